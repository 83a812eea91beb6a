"""Words that several safety rules use for their values."""

from django.utils.translation import pgettext


def on_or_off(is_on: bool) -> str:
    return pgettext("safety", "On") if is_on else pgettext("safety", "Off")
