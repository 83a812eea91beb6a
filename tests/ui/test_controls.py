"""Form controls are drawn as by Django's own templates."""

from collections.abc import Callable
from typing import Any

import pytest
from django import forms
from django.forms.renderers import DjangoTemplates
from django.test.html import parse_html
from django.utils.safestring import mark_safe
from django.utils.translation import gettext_lazy

from portal.base.ui.inputs import Renderer

NASTY = "\"><script>alert('1')</script>&amp; 山田　太郎"
CHOICES = [
    ("", "---"),
    (1, "One"),
    (NASTY, NASTY),
    (2_000, 2_000),
    ("Group", [("a", mark_safe("<b>A</b>")), (None, "None")]),
]

FIELDS: dict[str, Callable[[], forms.Field]] = {
    "text": lambda: forms.CharField(max_length=20),
    "number": lambda: forms.IntegerField(min_value=1, max_value=9_999, localize=True),
    "email": forms.EmailField,
    "password": lambda: forms.CharField(widget=forms.PasswordInput(render_value=True)),
    "hidden": lambda: forms.CharField(widget=forms.HiddenInput),
    "search": lambda: forms.CharField(widget=forms.TextInput(attrs={"type": "search", "data-x": NASTY})),
    "url": lambda: forms.URLField(assume_scheme="https"),
    "date": lambda: forms.DateField(widget=forms.DateInput(attrs={"type": "date"})),
    "check": lambda: forms.BooleanField(required=False),
    "file": lambda: forms.FileField(widget=forms.FileInput),
    "current file": forms.FileField,
    "area": lambda: forms.CharField(widget=forms.Textarea(attrs={"rows": 3, "title": gettext_lazy("Members")})),
    "select": lambda: forms.ChoiceField(choices=CHOICES),
    "several": lambda: forms.MultipleChoiceField(choices=CHOICES),
    "radio": lambda: forms.ChoiceField(choices=CHOICES, widget=forms.RadioSelect),
    "checks": lambda: forms.MultipleChoiceField(choices=CHOICES, widget=forms.CheckboxSelectMultiple),
    "days": lambda: forms.SplitDateTimeField(),
}  # fmt: skip


@pytest.mark.parametrize("value", [None, "", 0, 1, 2_000, True, False, NASTY, [NASTY, 1], "\n first line"], ids=repr)
@pytest.mark.parametrize("what", FIELDS)
def test_a_control_is_what_django_makes_of_it(what: str, value: Any) -> None:
    def written(renderer: Any) -> str:
        if what == "days" and value not in (None, ""):
            return ""
        form_class = type("Form", (forms.Form,), {"one": FIELDS[what]()})
        form = form_class(initial={"one": value}, renderer=renderer)
        return str(form["one"].as_widget(attrs={"class": "form-control", "maxlength": False, "autofocus": True}))

    assert parse_html(written(Renderer())) == parse_html(written(DjangoTemplates()))
    assert "<script>" not in written(Renderer())
