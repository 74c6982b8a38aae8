# The image of the action; docs/decisions/0005-container.md says where the digest comes from and why
# it is laid out like this. No USER and no WORKDIR: GitHub's runner needs root and sets its own folder.
FROM python:3.13-slim@sha256:9662417aace5ae7b8e2609cce472b72a8958e134ba372808abe9cc1a0c0125e6

# Own layer, so that a change of the code does not install the packages again. numpy's own tests are
# removed in the layer that brought them.
COPY requirements.lock /tmp/requirements.lock
RUN pip install --no-cache-dir --no-deps --require-hashes --only-binary :all: \
        --disable-pip-version-check --root-user-action=ignore -r /tmp/requirements.lock \
    && rm /tmp/requirements.lock \
    && find /usr/local/lib/python3.13/site-packages/numpy -depth -type d -name tests -exec rm -r {} +

# The same places as in an installed wheel.
COPY datasets /usr/local/lib/python3.13/site-packages/gate/bundled
COPY gate /usr/local/lib/python3.13/site-packages/gate
# Compiled here because a container starts anew for every step and may have a read-only root. The
# file's contents decide, not its time, which a build may change.
RUN python -m compileall -q --invalidation-mode unchecked-hash \
        /usr/local/lib/python3.13/site-packages/gate

# Last, so that another commit does not build the layers above again. The release gives all three.
ARG VERSION=0.2.0
ARG REVISION=unknown
ARG SOURCE=unknown
LABEL org.opencontainers.image.title="Agent Gate" \
      org.opencontainers.image.description="Blocks a pull request that made an AI agent worse" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.source="${SOURCE}"

# -I: neither the workspace (the pull request's own files) nor HOME nor PYTHON* can shadow a module.
# -B: nothing is written to the image. -u: the log shows a line when it is printed.
ENTRYPOINT ["/usr/local/bin/python", "-IBu", "-c", "from gate.cli import container_main; container_main()"]
