# Sourced by the commands of the README: says what is missing instead of failing in the middle of a build.
need() { # need PROGRAM WHAT-TO-DO
    command -v "$1" >/dev/null 2>&1 || {
        echo "$1 is missing: $2" >&2
        exit 2
    }
}

need_toolchain() {
    need cargo "install the stable Rust toolchain (rustup.rs)"
    need cc "install a C compiler (Debian: apt-get install gcc)"
    need git "install git (Debian: apt-get install git)"
}
