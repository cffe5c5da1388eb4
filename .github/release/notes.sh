#!/usr/bin/env bash
# Print what CHANGELOG.md says of the version in VERSION, for the page of the release.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

version=$(cat VERSION)
notes=$(awk -v heading="## [$version] - " '
  index($0, heading) == 1 { on = 1; next }
  /^## / || /^\[[^]]+\]: / { on = 0 }
  on' CHANGELOG.md)
[ -n "${notes//[[:space:]]/}" ] || {
  printf 'CHANGELOG.md has no section "## [%s] - DATE"; write one\n' "$version" >&2
  exit 1
}
printf '%s\n' "$notes" | sed '/./,$!d'
