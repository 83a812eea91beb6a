"""Files under /files/: anyone who knows an address may fetch it, and addresses cannot be guessed."""

from django.http import HttpRequest, HttpResponse

from sandbox.errors import ApiError, not_found
from sandbox.service.models import ProfileImage

_PROFILE_IMAGES = "/files/profile_images/"
_CACHED_SECONDS = 3600


def profile_image_url(request: HttpRequest, token: str) -> str:
    """Return the picture's address, at the host that the caller used."""
    return request.build_absolute_uri(f"{_PROFILE_IMAGES}{token}")


def profile_image(request: HttpRequest, token: str) -> HttpResponse:
    """Return a member's picture (GET)."""
    if request.method not in {"GET", "HEAD"}:
        raise ApiError(405, "40500", "GET")
    image = None if "\0" in token else ProfileImage.objects.filter(token=token).first()
    if image is None:
        raise not_found("file")
    response = HttpResponse(bytes(image.content), content_type=image.content_type)
    # Browsers and proxies must not change its type, cache it, or use it as a document.
    response["X-Content-Type-Options"] = "nosniff"
    response["Cache-Control"] = f"private, max-age={_CACHED_SECONDS}, immutable"
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    return response
