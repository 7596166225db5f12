# cli.sh - what scripts that drive the slimpack program share; read with `.` from tests/cli.
#
# Takes the program from $SLIMPACK (default build/slimpack) and goes to a folder of its
# own, $T, which is gone at the end. $json is 1 where the program has JSON.

SLIMPACK=${SLIMPACK:-build/slimpack}
case $SLIMPACK in
/*) ;;
*) SLIMPACK=$(pwd)/$SLIMPACK ;;
esac
if [ ! -x "$SLIMPACK" ]; then
    echo "$0: $SLIMPACK: no such program; build it or set SLIMPACK"
    exit 1
fi

T=$(mktemp -d "${TMPDIR:-/tmp}/slimpack-cli.XXXXXX") || exit 1
trap 'chmod -R u+rwx "$T" 2>/dev/null; rm -rf "$T"' EXIT
trap 'exit 1' HUP INT TERM
cd "$T" || exit 1

passed=0
failed=0
code=0

ok() {
    echo "[       OK ] $1"
    passed=$((passed + 1))
}

bad() {
    echo "[  FAILED  ] $1: $2"
    failed=$((failed + 1))
}

skip() {
    echo "[  SKIPPED ] $1: $2"
}

# run ARGUMENT... : output in out and err, exit code in $code
run() {
    "$SLIMPACK" "$@" >out 2>err </dev/null
    code=$?
}

# fails NAME CODE TEXT ARGUMENT... : a command that must fail and say TEXT
fails() {
    name=$1 want=$2 text=$3
    shift 3
    run "$@"
    failed_as "$name" "$want" "$text"
}

# failed_as NAME CODE TEXT : holds what the last run left against what it must be
failed_as() {
    if [ "$code" -ne "$2" ]; then
        bad "$1" "exit code $code, not $2: $(head -c 200 err)"
    elif ! grep -qF -e "$3" err; then
        bad "$1" "no '$3' in: $(head -c 200 err)"
    elif [ "$(wc -l <err)" -ne 1 ] || ! grep -q '^slimpack: ' err; then
        bad "$1" "not one line of slimpack: $(head -c 300 err)"
    elif [ "$(wc -c <err)" -gt 600 ]; then
        bad "$1" "a message of $(wc -c <err) bytes"
    elif [ -s out ]; then
        bad "$1" "printed to standard output"
    else
        ok "$1"
    fi
}

# works NAME TEXT ARGUMENT... : a command that must succeed and print TEXT
works() {
    name=$1 text=$2
    shift 2
    run "$@"
    if [ "$code" -ne 0 ]; then
        bad "$name" "exit code $code: $(head -c 200 err)"
    elif [ -n "$text" ] && ! grep -qF -e "$text" out; then
        bad "$name" "no '$text' in the output"
    elif [ -s err ]; then
        bad "$name" "printed to standard error: $(head -c 200 err)"
    else
        ok "$name"
    fi
}

# holds NAME COMMAND... : a condition of the shell
holds() {
    name=$1
    shift
    if "$@"; then ok "$name"; else bad "$name" "'$*' does not hold"; fi
}

# same NAME FILE FILE
same() {
    if cmp -s "$2" "$3"; then ok "$1"; else bad "$1" "$2 and $3 differ"; fi
}

if "$SLIMPACK" --version | grep -q 'JSON: none'; then json=0; else json=1; fi

finish() {
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
    exit $?
}
