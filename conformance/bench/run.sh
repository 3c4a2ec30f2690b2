#!/usr/bin/env bash
# Measures Scion against its limits on this machine; see BENCHMARKS.md. Arguments go to the bench program.
set -euo pipefail
cd "$(dirname "$0")/../.."
cargo build --release --quiet -p scion-cli -p scion-conformance
exec "${CARGO_TARGET_DIR:-target}/release/bench" "$@"
