"""Natural sorting of names: Door 7 before Door 14, also with Japanese full-width digits."""

import re

from django.db import models
from django.db.models import F, Func, Value
from django.db.models.functions import Coalesce, NullIf

# Numbers are compared by their last 10 digits. PostgreSQL without ICU has no collation for numbers.
_DIGITS = 10
_WIDE = str.maketrans("０１２３４５６７８９", "0123456789")


def natural_key(name: str) -> str:
    """Return the sort key of a name, in which all numbers have the same number of digits."""
    return re.sub(r"[0-9]+", lambda number: number[0].zfill(_DIGITS)[-_DIGITS:], name.translate(_WIDE))


def natural_sort_column(name: str, identifier: str) -> models.GeneratedField:
    """Return a column with the `natural_key` of the column `name`, or of `identifier` for rows without a name."""
    shown = Coalesce(NullIf(F(name), Value("")), F(identifier))
    narrow = Func(shown, Value("０１２３４５６７８９"), Value("0123456789"), function="translate")
    filled = _replaced(narrow, r"([0-9]+)", "0" * _DIGITS + r"\1")
    cut = _replaced(filled, rf"[0-9]*([0-9]{{{_DIGITS}}})", r"\1")
    return models.GeneratedField(expression=cut, output_field=models.TextField(db_collation="C"), db_persist=True)


def _replaced(text: Func, pattern: str, by: str) -> Func:
    return Func(text, Value(pattern), Value(by), Value("g"), function="regexp_replace")
