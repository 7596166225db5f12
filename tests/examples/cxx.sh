#!/bin/sh
# The C++ example compiles as C++17 without a warning under every compiler that is
# there, and runs.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
# Objects under a sanitizer of gcc link with gcc's runtime alone.
[ -z "${SANITIZE:-}" ] && compilers='g++ clang++' || compilers=g++
for cxx in $compilers; do
    command -v $cxx >/dev/null 2>&1 || { echo "[  SKIPPED ] data_loader_under_$cxx"; continue; }
    # clang++ without a C++ library of its own finds gcc's, or nothing.
    echo '#include <memory>' | $cxx -std=c++17 -x c++ -fsyntax-only - 2>/dev/null ||
        { echo "[  SKIPPED ] data_loader_under_$cxx"; continue; }
    if $cxx -std=c++17 -Wall -Wextra -Wpedantic -Werror -Iinclude docs/examples/data_loader.cpp \
        "${L:-lib}/libslimpack.a" -lpthread -lm ${SANITIZE:-} -o "$work/loader" &&
        "$work/loader" >"$work/out" && [ "$(grep -c '^step' "$work/out")" = 3 ]; then
        echo "[       OK ] data_loader_under_$cxx"
    else
        echo "[  FAILED  ] data_loader_under_$cxx"
        failed=1
    fi
done
exit $failed
