"""Addresses: OAuth, the console, and all others for the API, routed from the table in `accessapi`."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import URLPattern, URLResolver, include, path, re_path
from django.views.decorators.csrf import csrf_exempt

from sandbox.api import files
from sandbox.api.dispatch import answer
from sandbox.cameras import media
from sandbox.catalogue import CATALOGUE
from sandbox.documentation import openapi
from sandbox.oauth import pages, tokens


def health(request: HttpRequest) -> HttpResponse:
    """Answer that the server runs."""
    return JsonResponse({"status": "ok"})


def _place(name: str) -> str:
    return CATALOGUE.find(name).path.lstrip("/")


urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", health),
    path("openapi.json", openapi),
    path("files/profile_images/<str:token>", csrf_exempt(files.profile_image)),
    path("files/cameras/<str:token>/<str:name>", csrf_exempt(media.file)),
    path(_place("authorize"), pages.authorize),
    path(_place("issue_token"), csrf_exempt(tokens.issue)),
    path(_place("reissue_token"), csrf_exempt(tokens.update)),
    path(_place("revoke_token"), csrf_exempt(tokens.revoke)),
]
if settings.CONSOLE:
    urlpatterns.append(path("console/api/", include("sandbox.console.urls")))
    urlpatterns.append(path("console/", include("sandbox.console.pages.urls")))
urlpatterns.append(re_path("", csrf_exempt(answer)))

handler400 = "sandbox.api.error_handling.bad_request"
handler403 = "sandbox.api.error_handling.forbidden"
handler404 = "sandbox.api.error_handling.not_found"
handler500 = "sandbox.api.error_handling.server_error"
