# The static file of `make dist`, the certificates that browsers trust, and nothing else:
#   make image
#   docker run -e QLESS_REDIS_URL=redis://10.0.4.7:6379/2 qless status
FROM scratch
COPY dist/qless /usr/bin/qless
COPY dist/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
# The server, as `--redis` takes it. A password comes from QLESS_REDIS_PASSWORD.
ENV QLESS_REDIS_URL=redis://127.0.0.1:6379/0
ENV PATH=/usr/bin
USER 65534:65534
ENTRYPOINT ["qless"]
