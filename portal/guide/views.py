from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import get_language
from django.views.decorators.http import require_GET

from portal.guide import pages
from tenants.roles import find_role


@require_GET
def page(request: HttpRequest, name: str = pages.FRONT_PAGE) -> HttpResponse:
    """Show a page of the guide in the person's language, beside the list of all tasks."""
    task = pages.tasks().get(name)
    if task is None and name != pages.FRONT_PAGE:
        raise Http404
    language = (get_language() or "en")[:2]
    shown = {"article": pages.article(name, language), "parts": pages.contents(language), "name": name}
    roles = [find_role(each).title for each in task.roles] if task else []
    return render(request, "guide/page.html", shown | {"roles": roles})
