#!/bin/bash
# Make a stand-in for the Dockerfile's build image out of what this machine has
# (its Go, its CA certificates, busybox for a shell), so that the Dockerfile can
# be built where no image can be pulled. For buildah only.
# usage: base.sh NAME, the image's name as the FROM line resolves it
set -euo pipefail
name=$1
goroot=$(go env GOROOT)
certs=/etc/ssl/certs/ca-certificates.crt
[ -r "$certs" ] || { echo "$certs is not here: install the package ca-certificates" >&2; exit 1; }

container=$(buildah from --isolation chroot scratch)
root=$(buildah mount "$container")
mkdir -p "$root"/{bin,etc/ssl/certs,dev,go,proc,root,sys,tmp,usr/local/go,var/tmp}
chmod 1777 "$root/tmp" "$root/var/tmp"
cp /bin/busybox "$root/bin/"
for applet in sh cat chmod cp env ln ls mkdir mv rm test true uname; do
  ln -s busybox "$root/bin/$applet"
done
cp -L "$certs" "$root$certs"
printf 'root:x:0:0:root:/root:/bin/sh\n' >"$root/etc/passwd"
printf 'root:x:0:\n' >"$root/etc/group"
cp -a "$goroot/." "$root/usr/local/go/"
buildah umount "$container" >/dev/null
buildah config \
  --env PATH=/usr/local/go/bin:/go/bin:/bin \
  --env GOPATH=/go \
  --env GOTOOLCHAIN=local \
  --workingdir /go \
  "$container"
buildah commit -q "$container" "$name" >/dev/null
buildah rm "$container" >/dev/null
