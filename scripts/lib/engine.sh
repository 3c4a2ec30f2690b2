# Sourced. A real epistemic-graph engine for the tests: the package carries the program, which needs no Python to run.
# `need_engine` sets SCION_ENGINE_BIN and makes the tests fail, not skip, without it.

engine_version=2.27.7
engine_sha256=7e9853b9c4582e4523564b5aecbc21b4ff370c7591a00f7774b748ff0c6f74b8 # x86_64 Linux

need_engine() {
    export SCION_ENGINE_REQUIRED=1
    if [ -n "${SCION_ENGINE_BIN:-}" ]; then return 0; fi
    local folder="${XDG_CACHE_HOME:-$HOME/.cache}/scion/engine-$engine_version"
    if [ ! -x "$folder/epistemic-graph-server" ]; then
        local work
        work=$(mktemp -d) || return 1
        printf 'epistemic-graph-server==%s --hash=sha256:%s\n' "$engine_version" "$engine_sha256" >"$work/pin"
        python3 -m pip download --quiet --no-deps --only-binary :all: --require-hashes -r "$work/pin" -d "$work" || return 1
        mkdir -p "$folder" || return 1
        python3 - "$work" "$folder" <<'PY' || return 1
import glob, os, sys, zipfile

work, folder = sys.argv[1:]
with zipfile.ZipFile(glob.glob(work + "/*.whl")[0]) as wheel:
    name = next(name for name in wheel.namelist() if name.endswith("/epistemic-graph-server"))
    part = os.path.join(folder, "engine.part")
    with wheel.open(name) as program, open(part, "wb") as out:
        while chunk := program.read(1 << 20):
            out.write(chunk)
os.chmod(part, 0o755)
os.rename(part, os.path.join(folder, "epistemic-graph-server"))
PY
        rm -rf "$work"
    fi
    export SCION_ENGINE_BIN="$folder/epistemic-graph-server"
}
