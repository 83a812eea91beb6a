"""The token, update and revoke endpoints: they accept a form and return JSON, never a page."""

from functools import wraps

from authlib.common.security import generate_token
from django.core.exceptions import BadRequest, SuspiciousOperation
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse

from sandbox import behaviour, clock
from sandbox.service.models import AccessToken, Client

from .checks import OAuthRefusal, check_required, client_of
from .endpoints import View, with_clock_and_faults
from .server import SERVER


def endpoint(view: View) -> View:
    """Declare an endpoint: POST only, in one transaction, errors as OAuth JSON."""

    @wraps(view)
    def answer(request: HttpRequest) -> HttpResponse:
        try:
            if request.method != "POST":
                raise OAuthRefusal("invalid_request", "the method must be POST")
            if request.content_type != "application/x-www-form-urlencoded":
                raise OAuthRefusal("invalid_request", "the body must be application/x-www-form-urlencoded")
            with transaction.atomic():
                return view(request)
        except OAuthRefusal as refused:
            return refused.as_response()
        except (SuspiciousOperation, BadRequest):
            return OAuthRefusal("invalid_request", "the form cannot be read").as_response()

    return answer


@with_clock_and_faults("issue_token")
@endpoint
def issue(request: HttpRequest) -> HttpResponse:
    """Exchange an authorization code, once and within ten minutes, for a token. It has the tenant of the administrator
    who consented, and the scopes registered at that moment. Clients without a secret are refused.
    """
    # A client without a secret is a public one: refused before any other check.
    check_required(request.POST, "client_id", "client_secret")
    if request.POST.get("grant_type") != "authorization_code":
        raise OAuthRefusal("unsupported_grant_type", "grant_type must be authorization_code")
    client_of(request)
    check_required(request.POST, "code", "redirect_uri")
    if "\0" in request.POST["code"]:
        raise OAuthRefusal("invalid_grant", "the code is not valid")
    response: HttpResponse = SERVER.create_token_response(request)
    return response


@with_clock_and_faults("reissue_token")
@endpoint
def update(request: HttpRequest) -> HttpResponse:
    """Return a new token for a valid one, with the scopes registered now; the old one ends unless `reissue_kills_old`
    is off (assumed). The token in the header AUTHORIZATIONS must be a valid one of the same client.
    """
    token = _token(request)
    # The specification does not define whether a reissue ends the old token.
    if behaviour.behaviour_of(token.tenant_id).reissue_kills_old:
        _end_token(token)
    fresh = AccessToken.objects.create(
        access_token=generate_token(42),
        client=token.client,
        tenant=token.tenant,
        scopes=token.client.scopes,
        issued_at=clock.now(),
    )
    body = {"token_type": "Bearer", "access_token": fresh.access_token}
    return JsonResponse(body, headers={"Cache-Control": "no-store"})


@with_clock_and_faults("revoke_token")
@endpoint
def revoke(request: HttpRequest) -> HttpResponse:
    """End the token permanently; an unknown or ended one is Not Found (404). The header AUTHORIZATIONS is checked as at
    reissue.
    """
    _end_token(_token(request))
    return HttpResponse(status=200, headers={"Cache-Control": "no-store"})


def _token(request: HttpRequest) -> AccessToken:
    """Return the token in the form, locked. Raises OAuthRefusal, with Not Found if it does not exist or has ended."""
    client = client_of(request)
    check_required(request.POST, "token")
    scheme, _, bearer = request.headers.get("AUTHORIZATIONS", "").partition(" ")
    if scheme != "Bearer" or not bearer:
        raise OAuthRefusal("invalid_request", "the header AUTHORIZATIONS must carry Bearer and an access token")
    if not _find(client, bearer) or not (token := _find(client, request.POST["token"])):
        raise OAuthRefusal("Not Found", "the token does not exist", 404)
    return token


def _find(client: Client, value: str) -> AccessToken | None:
    if "\0" in value:
        return None
    live = AccessToken.objects.filter(access_token=value, client=client, ended_at=None)
    return live.select_for_update(of=("self",)).select_related("client", "tenant").first()


def _end_token(token: AccessToken) -> None:
    token.ended_at = clock.now()
    token.save(update_fields=["ended_at"])
