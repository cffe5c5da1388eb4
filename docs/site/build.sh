#!/bin/bash
# Build docs/ as a site, into docs/site/dist, and check it. npm fetches the generator, at the
# versions of package-lock.json, where it is not there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

if ! cmp -s package-lock.json node_modules/.fetched; then
  npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
  cp package-lock.json node_modules/.fetched # last, so that what is there is whole
fi
node node_modules/vitepress/bin/vitepress.js build
node check.mjs dist
