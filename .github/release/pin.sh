#!/usr/bin/env bash
# Turn the files of this commit into those of a release: action.yml names the image by
# its digest, and setup/checksums.txt the archives by theirs.
# usage: pin.sh CHECKSUMS [DIGEST]
#   CHECKSUMS is the checksums.txt of the build, DIGEST the image's (sha256:…); without
#   it action.yml stays as it is.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

checksums=$1 digest=${2:-}
version=$(cat VERSION)
image=ghcr.io/contextosai/packgate

fail() {
  printf '%s\n' "$1" >&2
  exit 1
}

# The lists of what the binaries were built from have checksums too; the installer
# fetches archives alone.
archives=
for os in darwin linux windows; do
  for arch in amd64 arm64; do
    line=$(awk -v name="packgate_${version}_${os}_${arch}.tar.gz" '$2 == name' "$checksums")
    [[ $line =~ ^[0-9a-f]{64}\ \ packgate_[^[:space:]]+$ ]] ||
      fail "$checksums does not name packgate_${version}_${os}_${arch}.tar.gz once, with its SHA-256; build the archives with goreleaser"
    archives+=$line$'\n'
  done
done

if [ -n "$digest" ]; then
  [[ $digest =~ ^sha256:[0-9a-f]{64}$ ]] || fail "the digest is $(printf '%q' "$digest"); give one of the form sha256:…"
  [ "$(grep -c '^  image: Dockerfile$' action.yml)" = 1 ] || fail 'action.yml has no line "  image: Dockerfile"; start from a commit of main'
  sed "s|^  image: Dockerfile\$|  image: docker://$image@$digest|" action.yml >action.yml.new
  mv action.yml.new action.yml
fi
printf '%s' "$archives" >setup/checksums.txt
