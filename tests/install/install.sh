#!/bin/sh
# Installs into a temporary prefix and builds a consumer against it in every way that
# people do: pkg-config shared and static, CMake, C++; then uninstalls.
set -u
[ -n "${SANITIZE:-}" ] && { echo "skipped: what is installed has no sanitizer"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
prefix=$work/usr
failed=0
version=$(sed -n 's/.*SP_VERSION_STRING "\(.*\)"/\1/p' include/slimpack.h)
: "${version:=$(for part in MAJOR MINOR PATCH; do
    sed -n "s/^#define SP_VERSION_$part \([0-9]*\).*/\1/p" include/slimpack.h
done | paste -sd.)}"
expected="5576 tokens by $version"

say() {
    [ "$1" = 0 ] && echo "[       OK ] $2" && return
    echo "[  FAILED  ] $2"
    failed=1
    [ -s "$work/log" ] && tail -n 20 "$work/log"
}
# A build of its own: what is tested may be built with a sanitizer, what is shipped is not.
install_to() {
    env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make --no-print-directory B="$work/build" PREFIX="$prefix" \
        CFLAGS=-O1 LDFLAGS= "$@" >"$work/log" 2>&1
}
prints() {
    LD_LIBRARY_PATH=$prefix/lib "$1" >"$work/out" 2>>"$work/log" && [ "$(cat "$work/out")" = "$expected" ]
}

install_to install -j2
say $? make_install
for file in include/slimpack.h lib/libslimpack.a lib/libslimpack.so lib/libslimpack.so.1 \
    "lib/libslimpack.so.$version" lib/pkgconfig/slimpack.pc lib/cmake/slimpack/slimpackConfig.cmake \
    lib/cmake/slimpack/slimpackConfigVersion.cmake bin/slimpack share/man/man1/slimpack.1 \
    share/bash-completion/completions/slimpack share/zsh/site-functions/_slimpack; do
    [ -e "$prefix/$file" ] || { echo "not installed: $file"; failed=1; }
done
say $failed every_file_is_installed
! grep -rn '@[A-Z_]*@' "$prefix/lib/pkgconfig" "$prefix/lib/cmake" "$prefix/share" >"$work/log"
say $? no_placeholder_is_left
readelf -d "$prefix/lib/libslimpack.so" 2>/dev/null | grep -q 'SONAME.*\[libslimpack\.so\.1\]'
say $? soname
[ "$("$prefix/bin/slimpack" --version | head -n 1)" = "slimpack $version" ]
say $? installed_program_runs

# The manual names every verb and option that the program has.
names_all() {
    page=$prefix/share/man/man1/slimpack.1
    for verb in $("$prefix/bin/slimpack" help | awk '/^  [a-z]+ / && $1 != "help" { print $1 }'); do
        grep -q "^\.B $verb" "$page" || { echo "no verb $verb"; return 1; }
        for option in $("$prefix/bin/slimpack" help "$verb" | awk '/^  --/ { print $1 }'); do
            grep -qF ".B $(echo "$option" | sed 's/-/\\-/g')" "$page" || { echo "no option $option"; return 1; }
        done
    done
}
names_all >"$work/log"
say $? manual_names_verbs_and_options
if command -v groff >/dev/null 2>&1; then
    [ -z "$(groff -man -Tutf8 -ww -z "$prefix/share/man/man1/slimpack.1" 2>&1)" ]
    say $? manual_is_formatted_without_a_warning
else
    echo '[  SKIPPED ] manual_is_formatted_without_a_warning'
fi

# complete WORD...: what bash would offer for the last word.
complete_words() {
    PATH=$prefix/bin:$PATH bash -c '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _slimpack; echo "${COMPREPLY[*]}"' \
        "$prefix/share/bash-completion/completions/slimpack" "$@"
}
if command -v bash >/dev/null 2>&1; then
    [ "$(complete_words slimpack pl)" = plan ] && [ "$(complete_words slimpack plan x --me)" = --memory-gb ] &&
        [ "$(complete_words slimpack plan x --model gpt3-1)" = gpt3-175b ] &&
        [ "$(complete_words slimpack plan x --set max_merge)" = max_merge_degree= ] &&
        [ "$(complete_words slimpack plan x --policy f)" = fixed-pack ]
    say $? bash_completes_verbs_options_and_values
fi

cp tests/install/consumer.c "$work/consumer.cpp"
if command -v pkg-config >/dev/null 2>&1; then
    PKG_CONFIG_PATH=$prefix/lib/pkgconfig
    export PKG_CONFIG_PATH
    ${CC:-cc} -std=c11 -Wall -Wextra -Werror tests/install/consumer.c \
        $(pkg-config --cflags --libs slimpack) -o "$work/shared" >"$work/log" 2>&1 && prints "$work/shared"
    say $? consumer_by_pkg_config
    ${CC:-cc} -std=c11 -static tests/install/consumer.c $(pkg-config --static --cflags --libs slimpack) \
        -o "$work/static" >"$work/log" 2>&1 && prints "$work/static"
    say $? consumer_by_pkg_config_static
    if command -v "${CXX:-g++}" >/dev/null 2>&1; then
        ${CXX:-g++} -std=c++17 -Wall -Wextra -Wpedantic -Werror "$work/consumer.cpp" \
            $(pkg-config --cflags --libs slimpack) -o "$work/cxx" >"$work/log" 2>&1 && prints "$work/cxx"
        say $? consumer_in_cxx
    else
        echo '[  SKIPPED ] consumer_in_cxx'
    fi
    [ "$(pkg-config --modversion slimpack)" = "$version" ]
    say $? pkg_config_version
else
    echo '[  SKIPPED ] consumer_by_pkg_config'
fi
if command -v cmake >/dev/null 2>&1 && command -v c++ >/dev/null 2>&1; then
    mkdir "$work/project"
    cp tests/install/CMakeLists.txt tests/install/consumer.c "$work/project"
    cp tests/install/consumer.c "$work/project/consumer.cpp"
    cmake -S "$work/project" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" 2>&1 &&
        cmake --build "$work/cmake" >>"$work/log" 2>&1 && prints "$work/cmake/shared" &&
        prints "$work/cmake/static" && prints "$work/cmake/cxx"
    say $? consumer_by_cmake
else
    echo '[  SKIPPED ] consumer_by_cmake'
fi

install_to uninstall
[ -z "$(find "$prefix" ! -type d)" ]
say $? uninstall_leaves_no_file
install_to install DESTDIR="$work/stage" LIBDIR="$prefix/lib/here"
[ -e "$work/stage$prefix/lib/here/libslimpack.so.1" ] && [ -e "$work/stage$prefix/include/slimpack.h" ] &&
    [ -z "$(find "$prefix" ! -type d)" ] &&
    grep -q '^libdir=${prefix}/lib/here$' "$work/stage$prefix/lib/here/pkgconfig/slimpack.pc"
say $? destdir_and_libdir
exit $failed
