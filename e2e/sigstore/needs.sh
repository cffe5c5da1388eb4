#!/bin/bash
# Make sure that docker-registry, node and npm are here: the first is a registry
# without the referrers API, as ghcr.io is, and npm fetches sigstore-js, which verifies
# what was signed. They are installed where that is possible (root, apt-get).
set -euo pipefail

need() {
  local program=$1 package=$2
  command -v "$program" >/dev/null && return
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "$program is not here: installing the package $package"
    DEBIAN_FRONTEND=noninteractive
    export DEBIAN_FRONTEND
    apt-get update -q && apt-get install -y -q --no-install-recommends "$package"
  fi
  if ! command -v "$program" >/dev/null; then
    echo "$program is not here. Install it (Debian's package $package); \"make unit\" tests all that does not need it." >&2
    exit 1
  fi
}

fresh=$(command -v docker-registry || true)
need docker-registry docker-registry
# The tests start a registry of their own: the package's service is not wanted.
if [ -z "$fresh" ] && command -v systemctl >/dev/null; then
  systemctl disable --now docker-registry >/dev/null 2>&1 || true
fi
need node nodejs
need npm npm
