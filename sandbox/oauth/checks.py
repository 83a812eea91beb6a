"""The specification's refusals at the OAuth endpoints, checked before anything else reads the request."""

from dataclasses import dataclass

from django.http import HttpRequest, JsonResponse, QueryDict

from sandbox.service.models import Client

#: The only parameters of the authorization endpoint; anything else is unsupported.
AUTHORIZE_PARAMETERS = ("response_type", "client_id", "redirect_uri", "state")


@dataclass
class OAuthRefusal(Exception):
    """An OAuth error: its code, a message for the developer, and the HTTP status (assumed: not shown)."""

    code: str
    description: str
    status: int = 400

    def as_response(self) -> JsonResponse:
        """Return the answer of a token endpoint."""
        return JsonResponse(
            {"error": self.code, "error_description": self.description},
            status=self.status,
            headers={"Cache-Control": "no-store"},
        )


def redirect_target(query: QueryDict) -> tuple[Client, str]:
    """Return the client and its redirect URI if both are valid; only then may an error be sent there.

    Raises OAuthRefusal(invalid_request).
    """
    client_id, redirect_uri = _single_value(query, "client_id"), _single_value(query, "redirect_uri")
    client = Client.objects.filter(client_id=client_id).first() if _is_storable(client_id) else None
    if client is None:
        raise OAuthRefusal("invalid_request", "client_id is not registered")
    if not client.check_redirect_uri(redirect_uri):
        raise OAuthRefusal("invalid_request", "redirect_uri is not one of those registered")
    return client, redirect_uri


def _single_value(query: QueryDict, name: str) -> str:
    values = query.getlist(name)
    if len(values) != 1 or not values[0]:
        raise OAuthRefusal("invalid_request", f"{name} is {'repeated' if len(values) > 1 else 'missing'}")
    return str(values[0])


def check_authorize(query: QueryDict) -> None:
    """Raise OAuthRefusal for an unsupported, repeated or missing parameter, or another response_type."""
    for name in query:
        if name not in AUTHORIZE_PARAMETERS:
            raise OAuthRefusal("invalid_request", "unsupported parameter")
        if len(query.getlist(name)) > 1:
            raise OAuthRefusal("invalid_request", f"{name} is repeated")
    if not query.get("response_type"):
        raise OAuthRefusal("invalid_request", "response_type is missing")
    if query["response_type"] != "code":
        raise OAuthRefusal("unsupported_response_type", "response_type must be code")


def client_of(request: HttpRequest) -> Client:
    """Return the client whose credentials are in the form.

    Raises OAuthRefusal(invalid_request) if one is missing or a field is repeated, and OAuthRefusal(invalid_client).
    """
    form = request.POST
    for name in form:
        if len(form.getlist(name)) > 1:
            raise OAuthRefusal("invalid_request", "a field is repeated")
    check_required(form, "client_id", "client_secret")
    client = Client.objects.filter(client_id=form["client_id"]).first() if _is_storable(form["client_id"]) else None
    if client is None or not client.check_client_secret(form["client_secret"]):
        raise OAuthRefusal("invalid_client", "client_id or client_secret is wrong")
    return client


def check_required(form: QueryDict, *names: str) -> None:
    """Raise OAuthRefusal(invalid_request) with the name of the first missing or empty field."""
    for name in names:
        if not form.get(name):
            raise OAuthRefusal("invalid_request", f"{name} is missing")


def _is_storable(value: str) -> bool:
    # PostgreSQL text holds no NUL: such a value cannot be registered, and must not reach a query.
    return "\0" not in value
