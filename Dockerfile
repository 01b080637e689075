# The server in an image of its own: only the program and what a static program needs (certificates, time zones), run by
# a user without rights. `docker build -t relqps .`; docker-compose.yml adds Postgres.

# The page script and the style sheet.
FROM node:22-bookworm-slim AS assets
WORKDIR /src/web/assets
COPY web/assets/package.json web/assets/package-lock.json web/assets/.npmrc ./
RUN npm ci
COPY web/assets ./
RUN node build.mjs

# The program, with script and style sheet embedded. Generated code is committed and needs no step here.
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum LICENSE *.go ./
COPY api api
COPY ingest ingest
COPY internal internal
COPY migrations migrations
COPY runner runner
COPY web web
COPY --from=assets /src/web/static/dist web/static/dist
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o /out/relqps .

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/relqps /usr/local/bin/relqps
COPY LICENSE NOTICE /usr/share/doc/relqps/
USER 65532:65532
# Inside a container the loopback address would reach nobody; what is published is decided outside.
ENV RELQPS_ADDR=0.0.0.0:8080
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
    CMD ["/usr/local/bin/relqps", "healthcheck", "--url", "http://127.0.0.1:8080/readyz"]
ENTRYPOINT ["/usr/local/bin/relqps"]
CMD ["serve"]
