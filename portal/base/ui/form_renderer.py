"""Render form controls as HTML without templates, which are slower. The result equals that of Django's templates."""

from collections.abc import Callable, Mapping
from typing import Any

from django.forms.renderers import DjangoTemplates
from django.utils.formats import localize
from django.utils.html import conditional_escape as escaped
from django.utils.safestring import SafeString, mark_safe

_INPUTS = ("text", "number", "email", "password", "hidden", "search", "url", "tel", "date", "time", "checkbox", "file")


class Renderer(DjangoTemplates):
    """A form renderer that writes inputs, selects and text areas itself; Django renders all others."""

    def render(self, template_name: str, context: dict[str, Any], request: Any = None) -> SafeString:
        write = _WRITERS.get(template_name)
        if write is None:
            return SafeString(super().render(template_name, context, request))
        return mark_safe(write(context["widget"]))  # noqa: S308 - each part is escaped below


def _attributes(attrs: Mapping[str, Any]) -> str:
    return "".join(
        f" {escaped(name)}" if value is True else f' {escaped(name)}="{escaped(str(value))}"'
        for name, value in attrs.items()
        if value is not False
    )


def _input(widget: Mapping[str, Any]) -> str:
    value = "" if widget["value"] is None else f' value="{escaped(str(widget["value"]))}"'
    return f'<input type="{widget["type"]}" name="{escaped(widget["name"])}"{value}{_attributes(widget["attrs"])}>'


def _text_area(widget: Mapping[str, Any]) -> str:
    text = escaped(widget["value"] or "")
    return f'<textarea name="{escaped(widget["name"])}"{_attributes(widget["attrs"])}>\n{text}</textarea>'


def _select(widget: Mapping[str, Any]) -> str:
    groups = "".join(_group(name, options) for name, options, _ in widget["optgroups"])
    return f'<select name="{escaped(widget["name"])}"{_attributes(widget["attrs"])}>{groups}\n</select>'


def _group(name: Any, options: list[Mapping[str, Any]]) -> str:
    written = "".join(f"\n  {_option(each)}" for each in options)
    return f'\n  <optgroup label="{escaped(localize(name))}">{written}\n  </optgroup>' if name else written


def _option(option: Mapping[str, Any]) -> str:
    label = escaped(localize(option["label"]))
    return f'<option value="{escaped(str(option["value"]))}"{_attributes(option["attrs"])}>{label}</option>'


_WRITERS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    **{f"django/forms/widgets/{name}.html": _input for name in _INPUTS},
    "django/forms/widgets/textarea.html": _text_area,
    "django/forms/widgets/select.html": _select,
}
