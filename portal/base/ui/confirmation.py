"""The page that asks before something is done (`components/confirm.html`)."""

from collections.abc import Iterable
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise

from portal.base.ui.url_lookup import url_in_tenant
from tenants.access import TenantRequest

Text = str | Promise


def ask(
    request: TenantRequest,
    heading: Text,
    *,
    submit: Text,
    cancel: str,
    question: Text = "",
    consequences: Iterable[Text] = (),
    crumbs: Iterable[tuple[object, ...]] = (),
    danger: bool = True,
    **more: Any,
) -> HttpResponse:
    """Ask whether to do what the button `submit` names; `cancel` is the page to return to.

    `crumbs` are labels, each with the name of its page and the page's arguments. `more` can be `form`, `fields` (hidden
    values), `nonce` (hidden inputs) and `refuses` (the kind and operation for which the service's refusal is shown).
    """
    links = [
        (label, url_in_tenant(str(name), request.tenant.slug, *map(str, values))) for label, name, *values in crumbs
    ]
    context = {"heading": heading, "submit": submit, "cancel": cancel, "question": question, "danger": danger}
    lists = {"consequences": list(consequences), "crumbs": links}
    return render(request, "components/confirm.html", context | lists | more)
