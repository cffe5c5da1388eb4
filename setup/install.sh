#!/usr/bin/env bash
# Install the packgate program of a release for the jobs of a workflow.
#
# Nothing is run, and nothing unpacked, before the archive is known to be that of the
# release. For the version that this commit is of, the SHA-256 of each archive stands
# beside this script, in checksums.txt, which the release writes: whoever pins the
# action to a commit has pinned the program. Any other version has to come with the
# provenance that the release workflow signed, which the GitHub CLI verifies.
#
# The tool cache keeps the archive and not the program, and what it kept is verified
# like what was fetched: it may be shared with other jobs.
#
# It needs bash, curl, tar, and sha256sum or shasum, which every runner has.
set -euo pipefail

repository=contextosai/packgate
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

fail() {
  printf '::error title=packgate setup::%s\n' "$1"
  exit 1
}

# unix and native turn a path into the form that this shell, or the runner, reads.
unix() { if command -v cygpath >/dev/null; then cygpath -u "$1"; else printf '%s\n' "$1"; fi; }
native() { if command -v cygpath >/dev/null; then cygpath -w "$1"; else printf '%s\n' "$1"; fi; }

digest() {
  if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi <"$1" | cut -d' ' -f1
}

own=$(tr -d '\r\n' <"$here/../VERSION")
version=${PACKGATE_VERSION:-$own}
version=${version#v}
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] ||
  fail "the input version is $(printf '%q' "$version"); use a whole version such as $own"

case ${RUNNER_OS:-} in
  Linux) os=linux program=packgate ;;
  macOS) os=darwin program=packgate ;;
  Windows) os=windows program=packgate.exe ;;
  *) fail "there is no archive for the system $(printf '%q' "${RUNNER_OS:-}"); run this on Linux, macOS or Windows" ;;
esac
case ${RUNNER_ARCH:-} in
  X64) arch=amd64 ;;
  ARM64) arch=arm64 ;;
  *) fail "there is no archive for the processor $(printf '%q' "${RUNNER_ARCH:-}"); run this on X64 or ARM64" ;;
esac
archive=packgate_${version}_${os}_${arch}.tar.gz
base=${PACKGATE_BASE_URL:-https://github.com/$repository/releases/download/v$version}

# wanted is the digest that the archive must have; empty where its provenance decides.
wanted=
if [ "$version" = "$own" ]; then
  [ -r "$here/checksums.txt" ] ||
    fail "this commit of the action is not one of a release, so it is unknown what its program is; use $repository/setup at a release, such as @v${own%%.*}"
  wanted=$(awk -v name="$archive" '$2 == name { print $1 }' "$here/checksums.txt")
  [[ $wanted =~ ^[0-9a-f]{64}$ ]] || fail "the checksums of the release name no $archive; use another system or version"
elif ! command -v gh >/dev/null; then
  fail "version $version is not that of this action ($own), and the GitHub CLI, which verifies others, is not here; install gh, or use $repository/setup@v$version"
fi

genuine() {
  if [ -n "$wanted" ]; then
    [ "$(digest "$1")" = "$wanted" ]
  else
    gh attestation verify "$1" --repo "$repository" --deny-self-hosted-runners \
      --cert-identity "https://github.com/$repository/.github/workflows/release.yml@refs/heads/main" >&2
  fi
}

fetch() {
  if [ -d "$base" ]; then
    cp "$base/$archive" "$1"
  else
    curl --fail --silent --show-error --location --proto '=https' --retry 3 \
      --connect-timeout 30 --max-time 600 --max-filesize 268435456 --output "$1" "${base%/}/$archive"
  fi
}

temp=$(unix "${RUNNER_TEMP:?}")
work=$(mktemp -d "$temp/packgate-setup.XXXXXX")
trap 'rm -rf "$work"' EXIT
kept=
[ -z "${RUNNER_TOOL_CACHE:-}" ] || kept=$(unix "$RUNNER_TOOL_CACHE")/packgate/$version/$archive

# A copy of our own is verified and unpacked, so that nobody can exchange it between.
from_cache=
if [ -n "$kept" ] && [ -f "$kept" ] && cp "$kept" "$work/$archive" && genuine "$work/$archive"; then
  from_cache=yes
else
  fetch "$work/$archive" || fail "$archive could not be fetched from $(printf '%q' "$base"); see the line above, and check version and base-url"
  genuine "$work/$archive" || fail "$archive is not the one that was released (its SHA-256 is $(digest "$work/$archive")); do not use it, and report it where it came from $repository"
fi

tar -xzf "$work/$archive" -C "$work" "$program" || fail "$archive holds no $program; report it to $repository"
said=$("$work/$program" --version) || fail "$program does not run here; see the line above"
# The provenance says who built an archive and not which version it is of.
[[ $said == "packgate $version "* ]] || fail "$archive holds another version: $(printf '%q' "$said"); do not use it, and report it where it came from $repository"

if [ -n "$kept" ] && [ -z "$from_cache" ]; then
  # A cache that cannot be written costs the next job a download, and this one nothing.
  { mkdir -p "$(dirname "$kept")" && cp "$work/$archive" "$kept.$$" && mv -f "$kept.$$" "$kept"; } 2>/dev/null ||
    rm -f "$kept.$$" 2>/dev/null || true
fi

bin=$temp/packgate-$version
mkdir -p "$bin"
mv -f "$work/$program" "$bin/$program"
native "$bin" >>"$GITHUB_PATH"
{
  printf 'version=%s\n' "$version"
  printf 'path=%s\n' "$(native "$bin/$program")"
} >>"$GITHUB_OUTPUT"
if [ -n "$from_cache" ]; then
  printf '%s, from the tool cache\n' "$said"
else
  printf '%s, from %s\n' "$said" "$archive"
fi
