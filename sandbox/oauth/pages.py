"""The member site's part of OAuth: an administrator signs in, sees the request, and decides."""

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_protect

from sandbox.service.models import Administrator, Client

from .checks import OAuthRefusal, check_authorize, redirect_target
from .endpoints import SESSION, with_clock_and_faults
from .server import SERVER
from .texts import texts


@with_clock_and_faults("authorize")
@never_cache
@csrf_protect
def authorize(request: HttpRequest) -> HttpResponse:
    """Ask an administrator of the member site to sign in and consent, in English or Japanese, then redirect to the
    redirect URI with code and state. Errors go there too if client and redirect URI are valid.

    The forms of the page are sent to the same address.
    """
    try:
        if request.method not in ("GET", "HEAD", "POST"):
            raise OAuthRefusal("invalid_request", "the method must be GET")
        client, redirect_uri = redirect_target(request.GET)
    except OAuthRefusal as refused:
        return _refuse(request, refused)
    try:
        check_authorize(request.GET)
    except OAuthRefusal as refused:
        return _redirect_refusal(request, redirect_uri, refused)
    if request.method == "POST":
        return _decide(request, client, redirect_uri)
    return _consent_page(request, client)


def forged(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Refuse a form that did not come from the member site's own page (setting CSRF_FAILURE_VIEW)."""
    return _refuse(request, OAuthRefusal("invalid_request", "the form did not come from this page", 403))


def _refuse(request: HttpRequest, refused: OAuthRefusal) -> HttpResponse:
    """Return an error without a redirect URI: a page for a browser, JSON for a program."""
    if "text/html" in request.headers.get("Accept", ""):
        return _page(request, "error", {"refused": refused}, status=refused.status)
    return refused.as_response()


def _decide(request: HttpRequest, client: Client, redirect_uri: str) -> HttpResponse:
    """Handle a form. One form may sign in and decide at once; a browser does it in two steps."""
    decision = request.POST.get("decision", "")
    if decision == "other":
        request.session.flush()
        return _consent_page(request, client)
    if "login" in request.POST and not _sign_in(request):
        return _consent_page(request, client, wrong=True)
    administrator = _administrator(request)
    if administrator and decision == "allow":
        grant = SERVER.get_consent_grant(request, end_user=administrator)
        response: HttpResponse = SERVER.create_authorization_response(request, grant_user=administrator, grant=grant)
        return response
    if decision == "refuse":
        # Not among the specified errors; RFC 6749 4.1.2.1 defines it for exactly this case.
        return _redirect_refusal(request, redirect_uri, OAuthRefusal("access_denied", "the administrator refused"))
    return _consent_page(request, client)


def _consent_page(request: HttpRequest, client: Client, *, wrong: bool = False) -> HttpResponse:
    administrator = _administrator(request)
    context: dict[str, object] = {"client": client, "administrator": administrator, "wrong": wrong}
    if administrator is None:
        return _page(request, "login", context)
    words = texts(request.headers.get("Accept-Language", ""))
    asked = [(scope, words["scopes"].get(scope, scope)) for scope in client.scopes]
    return _page(request, "consent", context | {"asked": asked})


def _sign_in(request: HttpRequest) -> bool:
    login = request.POST.get("login", "").replace("\0", "")
    found = Administrator.objects.filter(login=login).first()
    if found is None or not constant_time_compare(found.password, request.POST.get("password", "")):
        request.session.flush()
        return False
    request.session[SESSION] = found.pk
    return True


def _administrator(request: HttpRequest) -> Administrator | None:
    if SESSION not in request.session:
        return None
    return Administrator.objects.select_related("tenant").filter(pk=request.session[SESSION]).first()


def _redirect_refusal(request: HttpRequest, redirect_uri: str, refused: OAuthRefusal) -> HttpResponse:
    parameters = {"error": refused.code, "error_description": refused.description}
    if len(request.GET.getlist("state")) == 1:
        parameters["state"] = request.GET["state"]
    joint = "&" if "?" in redirect_uri else "?"
    return HttpResponseRedirect(redirect_uri + joint + urlencode(parameters))


def _page(request: HttpRequest, name: str, context: dict[str, object], status: int = 200) -> HttpResponse:
    words = texts(request.headers.get("Accept-Language", ""))
    response = render(request, f"membersite/{name}.html", context | {"words": words}, status=status)
    response["X-Frame-Options"] = "DENY"
    # With no-referrer a browser sends its own forms with the origin "null", which the forgery check refuses.
    response["Referrer-Policy"] = "same-origin"
    return response
