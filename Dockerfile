# The operator as one compiled program, for amd64 and arm64:
#   docker buildx build --platform linux/amd64,linux/arm64 -t NAME .
# A release names both bases by digest: --build-arg DENO=…@sha256:… --build-arg RUNTIME=…@sha256:…
ARG DENO=docker.io/denoland/deno:debian-2.9.6
ARG RUNTIME=gcr.io/distroless/cc-debian13:nonroot

# Compiling for another architecture needs no emulation: the runtime of the target is downloaded.
FROM --platform=$BUILDPLATFORM ${DENO} AS build
ARG TARGETARCH
WORKDIR /src
COPY deno.json deno.lock mod.ts ./
COPY core core
COPY shell shell
COPY configs configs
COPY tools tools
RUN deno install --frozen --entrypoint mod.ts && \
    deno run --allow-all tools/compile.ts "$TARGETARCH" /llama-stack-operator

# The allocator, for the architecture of the image; unpacked instead of installed, since this stage may be of another one.
RUN dpkg --add-architecture "$TARGETARCH" && apt-get update && cd /tmp && \
    apt-get download "libjemalloc2:$TARGETARCH" && dpkg --extract libjemalloc2_*.deb /allocator && \
    cp /allocator/usr/lib/*/libjemalloc.so.2 /libjemalloc.so.2

# glibc, no shell, no package manager; any uid can run it, and nothing is written.
FROM ${RUNTIME}
LABEL org.opencontainers.image.title="Llama Stack operator" \
      org.opencontainers.image.description="Kubernetes operator for Llama Stack and OGX servers" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="0.1.0"
COPY --from=build /llama-stack-operator /llama-stack-operator
COPY LICENSE /licenses/LICENSE
COPY --from=build /libjemalloc.so.2 /usr/lib/libjemalloc.so.2
COPY --from=build /allocator/usr/share/doc/libjemalloc2/copyright /licenses/jemalloc
# As tools/program_flags.ts: what the runtime once needed goes back to the machine, and it has no root certificates.
ENV LD_PRELOAD=/usr/lib/libjemalloc.so.2 \
    MALLOC_CONF=narenas:1,dirty_decay_ms:1000,muzzy_decay_ms:0,background_thread:true \
    DENO_TLS_CA_STORE= \
    DENO_NO_UPDATE_CHECK=1
USER 65532:65532
ENTRYPOINT ["/llama-stack-operator"]
CMD ["run"]
