# Sourced after pinned-program.sh. A real epistemic-graph engine for the tests of scion-engine.
# `need_engine` sets SCION_ENGINE_BIN and makes the tests fail, not skip, without it.

need_engine() {
    export SCION_ENGINE_REQUIRED=1
    if [ -n "${SCION_ENGINE_BIN:-}" ]; then return 0; fi
    # x86_64 Linux
    SCION_ENGINE_BIN=$(pinned_program epistemic-graph-server 2.27.7 \
        7e9853b9c4582e4523564b5aecbc21b4ff370c7591a00f7774b748ff0c6f74b8 epistemic-graph-server) || return 1
    export SCION_ENGINE_BIN
}
