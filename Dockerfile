# The image of the action: one static binary and the CA certificates.
#
# It keeps to the instructions that builders have known for years (no heredocs, no
# COPY --link, no cache mounts): Docker with BuildKit, podman and buildah build it. The
# build stage runs on the builder's own processor and compiles for the one that the
# image is for, so an image for another needs no emulation. As GitHub asks of docker
# actions there is no USER (the workspace belongs to the runner's user, and only root
# may write the files the runner hands in) and no WORKDIR (the runner sets it).
#
# The flags are those of .github/goreleaser.yaml: the binary is the one in the archives.
# The tag grpcnotrace leaves out pages of gRPC for browsers, which nothing serves, and the
# templates that make them: with these the program would be a fifth larger.

FROM --platform=$BUILDPLATFORM golang:1.26.8-bookworm@sha256:dc9ad6c05acc7a88e5b71bde60a5fe3bd4b9f0db209011711b464107438a8107 AS build
ARG VERSION=dev
ARG TARGETOS
ARG TARGETARCH
COPY . /src
RUN go run -C /src ./playground/build
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -C /src -trimpath -buildvcs=false -tags=playground,grpcnotrace -ldflags "-s -w -X github.com/contextosai/packgate/internal/release.Version=$VERSION" -o /out/packgate .

FROM scratch
ARG VERSION=dev
LABEL org.opencontainers.image.title="packgate" \
      org.opencontainers.image.description="The gate in front of ContextOS Context Packs" \
      org.opencontainers.image.source="https://github.com/contextosai/packgate" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION"
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/packgate /packgate
ENTRYPOINT ["/packgate"]
CMD ["action"]
