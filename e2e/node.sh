#!/bin/bash
# Make sure that node and npm are here: the reference implementation of JsonLogic
# is JavaScript. They are installed where that is possible (root, apt-get).
set -euo pipefail

have() { command -v node >/dev/null && command -v npm >/dev/null; }

if ! have && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "node or npm is not here: installing the packages nodejs and npm"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -q && apt-get install -y -q --no-install-recommends nodejs npm
fi
if ! have; then
  echo "node and npm are not here. Install them; \"make unit\" tests all that does not need them." >&2
  exit 1
fi
