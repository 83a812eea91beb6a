"""Run pytest in child processes of a process that has already imported most packages, to save their start time.

A line of its input is one run: JSON with pytest's arguments and where its output goes. It answers with two lines: the
child's process group, so that the caller can end it, and its exit code.
"""

import contextlib
import importlib
import json
import os
import sys

_NOT_OURS = (
    "pytest", "pytest_django.plugin", "xdist.plugin", "hypothesis.strategies", "hypothesis.stateful",
    "_hypothesis_pytestplugin", "anyio.pytest_plugin", "schemathesis", "django.core.management", "django.test",
    "django.forms", "django.views.generic", "django.template.loader", "django.template.defaulttags",
    "django.db.backends.postgresql.base", "django.contrib.postgres.search", "celery.app.base", "celery.app.amqp",
    "kombu", "redis", "psycopg", "psycopg.types.json", "psycopg_pool", "pydantic", "authlib.integrations.base_client",
    "cryptography.hazmat.primitives.ciphers.aead", "httpx2", "httpcore2", "PIL.Image", "PIL.ImageOps", "openpyxl",
    "structlog", "playwright.sync_api", "jsonschema", "segno", "reportlab.pdfgen.canvas", "lxml.html", "email.message",
    "http.server", "xml.parsers.expat",
)  # fmt: skip


def main() -> None:
    """Answer requests until the input ends."""
    sys.path[0] = os.getcwd()  # as with `python -m pytest`, instead of this file's folder
    for name in _NOT_OURS:
        with contextlib.suppress(Exception):  # modules that are missing or need settings are imported later
            importlib.import_module(name)
    for line in sys.stdin:
        run = json.loads(line)
        child = os.fork()
        if child == 0:
            _pytest(run["arguments"], run["output"])
        print(child, flush=True)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _pytest(arguments: list[str], output: str) -> None:
    os.setsid()
    with open(output, "wb") as file, open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    code = 3
    try:
        import pytest

        sys.argv = ["pytest", *arguments]
        code = int(pytest.main(arguments))
    finally:
        sys.stdout.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
