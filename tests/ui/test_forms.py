"""Forms: errors with links, limits that are shown but never cut the input, and unknown values that are preserved."""

from django import forms as django_forms
from django.template import Context, Template

from portal.base.ui import inputs
from portal.base.ui.component_gallery import SampleForm


def draw(form):
    return Template("{% load ui %}{% problems form %}{% for each in form %}{% field each %}{% endfor %}").render(
        Context({"form": form})
    )


def test_each_error_stands_beside_its_field_and_on_top_with_a_link():
    html = draw(SampleForm({"code": "x" * 21, "group": "g1"}))
    assert "Not saved: 2 things to correct" in html
    assert '<a href="#id_name">Name</a>' in html
    assert 'aria-describedby="id_code_errors id_code_help"' in html
    assert html.count('class="errors"') == 2


def test_limits_are_told_and_counted_and_nothing_is_cut():
    html = draw(SampleForm())
    assert "At most 20 characters" in html
    assert 'data-count="20"' in html
    assert "maxlength" not in html


def test_an_unbound_form_has_no_problems():
    assert inputs.problems(SampleForm()) == []


def test_errors_of_the_whole_form_come_first_without_a_link():
    class Whole(django_forms.Form):
        name = django_forms.CharField()

        def clean(self):
            raise django_forms.ValidationError("Both <cannot> be")

    html = draw(Whole({"name": ""}))
    assert html.index("Both &lt;cannot&gt; be") < html.index("This field is required")


def test_values_in_use_that_are_not_offered_stay_choosable():
    offered = inputs.add_current_choices([("a", "A")], "a", "strange", "")
    assert [value for value, _label in offered] == ["a", "strange"]
    assert "strange" in str(offered[1][1])
