#!/usr/bin/env bash
# Build the image for both processors, see that its program is the one in the archives,
# and push both under one tag. Prints the digest of what the tag names.
# usage: image.sh DIST, the folder with the archives
# It needs a Docker engine with buildx, which is logged in to the registry, and skopeo, which
# compresses the layers with zstd: they are a tenth smaller than those that the engine pushes.
set -euo pipefail
dist=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

version=$(cat VERSION)
image=ghcr.io/contextosai/packgate
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for arch in amd64 arm64; do
  # The build stage runs on this machine's own processor and compiles for the other,
  # and nothing of the last stage is run: so no emulation is needed.
  docker buildx build --load --provenance=false --sbom=false --platform "linux/$arch" \
    --build-arg "VERSION=$version" --tag "$image:$version-$arch" . >&2
  container=$(docker create --platform "linux/$arch" "$image:$version-$arch")
  docker cp "$container:/packgate" "$work/packgate-$arch" >&2
  docker rm "$container" >&2
  # Two builds, in two places, by two tools: what only one of them was given shows here.
  tar -xzOf "$dist/packgate_${version}_linux_$arch.tar.gz" packgate | cmp - "$work/packgate-$arch" >&2 || {
    printf 'the program of the image for %s is not the one in the archive\n' "$arch" >&2
    exit 1
  }
  docker save --output "$work/image-$arch.tar" "$image:$version-$arch" >&2
  skopeo copy --format oci --dest-compress --dest-compress-format zstd --dest-compress-level 19 \
    "docker-archive:$work/image-$arch.tar" "docker://$image:$version-$arch" >&2
done
docker buildx imagetools create --tag "$image:$version" "$image:$version-amd64" "$image:$version-arm64" >&2
docker buildx imagetools inspect "$image:$version" --format '{{.Manifest.Digest}}'
