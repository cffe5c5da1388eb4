#!/bin/bash
# Print the engine that builds and runs the image on this machine: "docker"
# where a Docker engine answers, else "buildah", which needs none: it builds and
# runs in a chroot. Buildah is installed where that is possible (root, apt-get),
# and busybox with it: base.sh makes the base image from it.
# Everything but the answer goes to stderr.
set -euo pipefail

if command -v docker >/dev/null && docker info >/dev/null 2>&1; then
  echo docker
  exit 0
fi

have() { command -v buildah >/dev/null && [ -x /bin/busybox ]; }

if ! have && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "no Docker engine answers: installing the packages buildah and busybox-static" >&2
  export DEBIAN_FRONTEND=noninteractive
  { apt-get update -q && apt-get install -y -q --no-install-recommends buildah busybox-static; } >&2
fi
if ! have; then
  echo "no Docker engine answers, and buildah or /bin/busybox (busybox-static) is not here." >&2
  echo "Start Docker, or install both and run this as root; \"make unit\" tests all but the image." >&2
  exit 1
fi
if [ "$(id -u)" != 0 ]; then
  echo "buildah's chroot isolation needs root here: run this as root, or start Docker; \"make unit\" tests all but the image." >&2
  exit 1
fi
echo buildah
