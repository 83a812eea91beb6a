"""The one context processor: `frame` in every template."""

from django.http import HttpRequest

from portal.core.ui.frame import Frame


def frame(request: HttpRequest) -> dict[str, Frame]:
    """Adds `frame`, which works nothing out before a template asks for it."""
    return {"frame": Frame(request)}
