# The operator as one compiled program, for amd64 and arm64:
#   docker buildx build --platform linux/amd64,linux/arm64 -t NAME .
#   buildah build --platform linux/amd64 -t NAME .     (or podman build)
# A release names both bases by the digests of tools/pins.json: --build-arg DENO=…@sha256:… --build-arg RUNTIME=…@sha256:…
# What is downloaded, and how to build without a network: docs/install.md, "Build the image".
ARG DENO=docker.io/denoland/deno:debian-2.9.6
ARG RUNTIME=gcr.io/distroless/cc-debian13:nonroot

# Compiling for another architecture needs no emulation: its runtime is downloaded.
FROM --platform=$BUILDPLATFORM ${DENO} AS build
ARG TARGETARCH
WORKDIR /src

# For the architecture of the image: strip, and the allocator, which is unpacked and not installed, since this stage may be
# of another one. Nothing is downloaded if the base has both.
RUN set -eu; \
    case "$TARGETARCH" in amd64) cpu=x86_64 ;; arm64) cpu=aarch64 ;; *) echo "no such architecture: $TARGETARCH"; exit 1 ;; esac; \
    library=/usr/lib/$cpu-linux-gnu/libjemalloc.so.2; \
    if ! command -v "$cpu-linux-gnu-strip" || ! [ -e "$library" ]; then \
      dpkg --add-architecture "$TARGETARCH"; \
      apt-get update; \
      apt-get install --yes --no-install-recommends "binutils-$(echo "$cpu" | tr _ -)-linux-gnu"; \
      cd /tmp; \
      apt-get download "libjemalloc2:$TARGETARCH"; \
      dpkg --extract libjemalloc2_*.deb /; \
    fi; \
    mkdir /allocator; \
    cp "$library" /usr/share/doc/libjemalloc2/copyright /allocator

COPY deno.json deno.lock mod.ts ./
COPY core core
COPY shell shell
COPY configs configs
COPY tools tools
RUN deno install --frozen --entrypoint mod.ts && \
    deno run --allow-all tools/compile.ts "$TARGETARCH" /llama-stack-operator

# glibc, no shell, no package manager; any uid can run it, and nothing is written.
FROM ${RUNTIME}
LABEL org.opencontainers.image.title="Llama Stack operator" \
      org.opencontainers.image.description="Kubernetes operator for Llama Stack and OGX servers" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="0.1.0"
COPY LICENSE /licenses/LICENSE
COPY --from=build /allocator/copyright /licenses/jemalloc
COPY --from=build /allocator/libjemalloc.so.2 /usr/lib/libjemalloc.so.2
COPY --from=build /llama-stack-operator /llama-stack-operator
# As tools/program_flags.ts: what the runtime once needed goes back to the machine, and it has no root certificates.
ENV LD_PRELOAD=/usr/lib/libjemalloc.so.2 \
    MALLOC_CONF=narenas:1,dirty_decay_ms:1000,muzzy_decay_ms:0,background_thread:true \
    DENO_TLS_CA_STORE= \
    DENO_NO_UPDATE_CHECK=1
USER 65532:65532
ENTRYPOINT ["/llama-stack-operator"]
CMD ["run"]
