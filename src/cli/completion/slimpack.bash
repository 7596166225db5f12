# slimpack.bash - completes verbs, options and their values in bash.
#
# Asks the program itself, so that it offers what the installed release takes.
_slimpack_verbs() {
    slimpack help 2>/dev/null | awk '/^  [a-z]+ / { print $1 }'
}

_slimpack_options() {
    slimpack help "$1" 2>/dev/null | awk '/^  --[a-z]/ { print $1 }'
}

_slimpack_parameters() {
    slimpack params 2>/dev/null | awk '/^  [a-z][a-z0-9_]*  / { print $1 "=" }'
}

_slimpack_presets() {
    slimpack params "$1" 2>/dev/null | awk '/presets/ { on = 1; next } on && NF == 1 { print $1 }'
}

_slimpack() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words=
    if [ "$COMP_CWORD" = 1 ]; then
        words="$(_slimpack_verbs) --version"
    elif [ "$before" = help ]; then
        words=$(_slimpack_verbs)
    elif [ "$before" = --policy ]; then
        words='slimpack uniform-slice balanced-pack fixed-pack'
    elif [ "$before" = --model ] || [ "$before" = --device ]; then
        words=$(_slimpack_presets "${before#--}")
    elif [ "$before" = --set ]; then
        words=$(_slimpack_parameters)
    elif [ "$before" = params ]; then
        words='planner model device'
    elif [ "${word#-}" != "$word" ]; then
        words=$(_slimpack_options "${COMP_WORDS[1]}")
    fi
    if [ -n "$words" ]; then
        COMPREPLY=($(compgen -W "$words" -- "$word"))
    else
        COMPREPLY=($(compgen -f -- "$word"))
    fi
    case ${COMPREPLY[0]-} in
    *=) compopt -o nospace 2>/dev/null ;;
    esac
    return 0
}
complete -F _slimpack slimpack
