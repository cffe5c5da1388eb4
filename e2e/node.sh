#!/bin/bash
# Make sure that node, npm and Chromium are here: the reference implementation of
# JsonLogic is JavaScript, and so is axe, which looks at the HTML report in a real
# browser; npm also fetches GitHub's own description of its API. They are installed
# where that is possible (root, apt-get).
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

browser() { command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null; }

if ! browser && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "no Chromium is here: installing the packages chromium and fonts-dejavu-core (350 MB)"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -q && apt-get install -y -q --no-install-recommends chromium fonts-dejavu-core
fi
if ! browser; then
  echo "no chromium, chromium-browser or google-chrome is here. Install one; \"make unit\" tests all that does not need it." >&2
  exit 1
fi
