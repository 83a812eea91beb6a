"""Common parts of all OAuth endpoints: the clock of the tenant, and faults."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.exceptions import BadRequest, SuspiciousOperation
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from sandbox import behaviour
from sandbox.catalogue import CATALOGUE
from sandbox.faults import store
from sandbox.faults.broken_connections import Answer
from sandbox.service.models import AccessToken, Administrator, AuthorizationCode

View = Callable[[HttpRequest], HttpResponse]
#: Session key of the signed-in administrator.
SESSION = "administrator"


def with_clock_and_faults(name: str) -> Callable[[View], Callable[[HttpRequest], Answer]]:
    """Declare the view of the operation with this name: it uses its tenant's clock, and gets its faults."""
    number = CATALOGUE.find(name).number

    def decorate(view: View) -> Callable[[HttpRequest], Answer]:
        @wraps(view)
        def answer(request: HttpRequest) -> Answer:
            tenant_id = tenant_of(request)
            fault = store.take_fault(tenant_id, number)
            response = fault.before(request, number)
            if response is None:
                with behaviour.using_clock_of(tenant_id):
                    response = view(request)
            return fault.after(request, number, response)

        return answer

    return decorate


def tenant_of(request: HttpRequest) -> str:
    """Return the tenant of a request before any check; the key of all tenants if it names none.

    A code, a token, a login or the session of an administrator names it.
    """
    form: dict[str, str] = {}
    if request.method == "POST" and request.content_type == "application/x-www-form-urlencoded":
        try:
            form = {name: str(value).replace("\0", "") for name, value in request.POST.items()}
        except (SuspiciousOperation, BadRequest):
            return behaviour.ALL_TENANTS
    found: QuerySet[Any, tuple[str]]
    if "code" in form:
        found = AuthorizationCode.objects.filter(code=form["code"]).values_list("administrator__tenant_id")
    elif "token" in form:
        found = AccessToken.objects.filter(access_token=form["token"]).values_list("tenant_id")
    elif "login" in form:
        found = Administrator.objects.filter(login=form["login"]).values_list("tenant_id")
    elif SESSION in request.session:
        found = Administrator.objects.filter(pk=request.session[SESSION]).values_list("tenant_id")
    else:
        return behaviour.ALL_TENANTS
    row = found.first()
    return str(row[0]) if row else behaviour.ALL_TENANTS
