"""The console's own style and script, under addresses that change with their content."""

import hashlib
from pathlib import Path

from django.http import HttpRequest, HttpResponse

from sandbox.errors import not_found

_FOLDER = Path(__file__).resolve().parents[1] / "static"
_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
_FILES = {path.name: path.read_bytes() for path in sorted(_FOLDER.iterdir()) if path.suffix in _TYPES}
_DIGESTS = {name: hashlib.sha256(content).hexdigest()[:12] for name, content in _FILES.items()}
#: By the name without its ending, for templates.
ADDRESSES = {name.partition(".")[0]: f"/console/static/{digest}/{name}" for name, digest in _DIGESTS.items()}


def asset(request: HttpRequest, digest: str, name: str) -> HttpResponse:
    """Return one of the files (GET), which may be cached forever."""
    if name not in _FILES:
        raise not_found("file")
    response = HttpResponse(_FILES[name], content_type=_TYPES[Path(name).suffix])
    response["X-Content-Type-Options"] = "nosniff"
    fresh = digest == _DIGESTS[name]
    response["Cache-Control"] = "public, max-age=31536000, immutable" if fresh else "no-cache"
    return response
