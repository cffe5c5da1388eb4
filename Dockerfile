# The image of the action: one static binary and the CA certificates.
#
# It keeps to the instructions that every builder knows (no heredocs, no
# COPY --link, no cache mounts), because a self-hosted runner may build it with
# something older than BuildKit. As GitHub asks of docker actions there is no
# USER (the workspace belongs to the runner's user, and only root may write the
# files the runner hands in) and no WORKDIR (the runner sets it).

FROM golang:1.26.8-bookworm AS build
ARG VERSION=dev
COPY . /src
RUN CGO_ENABLED=0 go build -C /src -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$VERSION" -o /out/packgate .

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
