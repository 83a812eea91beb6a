"""What a person sees of a list: rows, chips, sorting, selection, files. The style page's sample list is a real one."""

import io
import re
from contextlib import closing, contextmanager
from datetime import UTC, date, datetime
from html import escape

import pytest
from django.contrib.auth.models import AnonymousUser
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from django.http import QueryDict
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext
from openpyxl import load_workbook

from accessapi.limits import JST
from portal.base.ui import chips
from portal.base.ui.component_gallery import SampleTable
from portal.base.ui.models import ListChoice
from portal.base.ui.tables import Column, file_response, load_selection
from portal.base.ui.tables.columns import EMPTY_CELL
from tests.support import flushing

PAGE = "/_components/"


def names(html):
    return re.findall(r'class="row-link"[^>]*>([^<]+)</a>', html)


def listed(client, query=""):
    answer = client.get(PAGE + query)
    assert answer.status_code == 200
    return names(answer.content.decode())


def test_rows_come_sorted_as_the_address_says(support):
    whole = listed(support, "?size=200")
    assert whole == sorted(whole)
    assert listed(support, "?size=200&sort=-model") == whole[::-1]
    assert listed(support, "?size=200&sort=password") == whole


def test_pages_follow_each_other_by_their_links(support):
    whole = listed(support, "?size=200")
    seen, address = [], "?size=25"
    while address:
        html = support.get(PAGE + address).content.decode()
        seen += names(html)
        found = re.search(r'rel="next" href="([^"]+)"', html)
        address = found[1].removeprefix(PAGE).replace("&amp;", "&") if found else ""
    assert seen == whole
    assert len(whole) > 25


def test_a_filter_is_a_chip_with_a_way_off(support):
    html = support.get(PAGE + "?app=auth&sort=-model").content.decode()
    assert "Group <b>auth</b>" in html
    assert f'href="{PAGE}?sort=-model"' in html
    assert set(names(html)) == {"group", "permission"}


def test_a_value_that_a_filter_does_not_know_is_shown_and_matches_nothing(support):
    html = support.get(PAGE + "?app=<b>nowhere").content.decode()
    assert "&lt;b&gt;nowhere (unknown)" in html
    assert "No results" in html


def test_search_narrows_and_says_how_many(support):
    html = support.get(PAGE + "?q=emailaddr").content.decode()
    assert names(html) == ["emailaddress"]
    assert re.search(r'class="list-count"[^>]*>\s*1\s*<', html)


def test_htmx_gets_the_list_alone_and_a_person_the_page(support):
    part = support.get(PAGE, headers={"HX-Request": "true", "HX-Target": "sample-list"}).content.decode()
    assert part.lstrip().startswith('<div class="list-region" id="sample-list"')
    assert "<html" not in part
    assert names(part) == listed(support)
    other = support.get(PAGE, headers={"HX-Request": "true", "HX-Target": "elsewhere"})
    assert "<html" in other.content.decode()
    assert "HX-Target" in other["Vary"]


def test_sorted_columns_say_so_to_screen_readers(support):
    html = support.get(PAGE + "?sort=-app_label").content.decode()
    assert html.count('aria-sort="descending"') == 1
    assert 'aria-sort="none"' in html


def test_columns_are_kept_per_person(support):
    answer = support.post("/look/lists/sample/", {"columns": ["code", "id", "nonsense"], "next": PAGE})
    assert answer["Location"] == PAGE
    html = support.get(PAGE).content.decode()
    heads = re.findall(r'<th scope="col"[^>]*>\s*(?:<a[^>]*>)?\s*([A-Z][a-z]+)', html)
    assert heads == ["Name", "Code", "Id"]
    assert ListChoice.objects.get().columns == ["code", "id"] or ListChoice.objects.get().columns == ["code", "id"]
    support.post("/look/lists/sample/", {"reset": "1", "next": PAGE})
    assert not ListChoice.objects.exists()


def test_a_list_that_does_not_exist_keeps_nothing(support):
    assert support.post("/look/lists/nonsense/", {"columns": ["a"]}).status_code == 404


def table(rf_query="", **kwargs):
    request = RequestFactory().get(PAGE + rf_query)
    request.user = AnonymousUser()
    return SampleTable(request, ContentType.objects.all(), **kwargs)


@contextmanager
def kept(*values):
    """Return a row of the sample list, which only the owner of the tables may add."""
    with flushing.owner().cursor() as cursor:
        cursor.execute("INSERT INTO django_content_type (app_label, model) VALUES (%s, %s)", values)
        try:
            yield
        finally:
            cursor.execute("DELETE FROM django_content_type WHERE (app_label, model) = (%s, %s)", values)


@pytest.mark.django_db
def test_a_known_total_is_not_counted_again():
    with CaptureQueriesContext(connection) as queries:
        assert table(total=123_456).total == 123_456
    assert len(queries) == 0


@pytest.mark.django_db
def test_values_are_escaped_wherever_they_are_drawn():
    evil = '<script>alert("x")</script>'
    with kept("a", evil):
        drawn = table("?q=script").rows_html
    assert evil not in drawn
    assert "&lt;script&gt;" in drawn
    [cell] = Column("x", "X", value=lambda row: evil).draw_cells([None])
    assert cell == evil.replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


@pytest.mark.parametrize("text", ["a & b", "a\0b", "", "\0"])
def test_each_text_stays_in_its_own_cell_whatever_it_holds(text):
    drawn = Column("x", "X", value=lambda row: row).draw_cells(["<first>", text, "last"])
    assert drawn[0] == "&lt;first&gt;"
    assert drawn[1] == (escape(text) or EMPTY_CELL)
    assert drawn[2] == "last"


def posted(data):
    request = RequestFactory().post(PAGE)
    request.user = AnonymousUser()
    request.POST = QueryDict(mutable=True)
    for name, value in data.items():
        request.POST.setlist(name, value if isinstance(value, list) else [value])
    return request


@pytest.mark.django_db
def test_a_selection_is_what_was_ticked_on_every_page_and_nothing_beyond_the_list():
    inside = ContentType.objects.filter(app_label="auth")
    keys = [str(pk) for pk in ContentType.objects.values_list("pk", flat=True)]
    picked = load_selection(
        posted({"id": keys[:3], "ids": ",".join([*keys[3:], "x", "9" * 30, ""])}), SampleTable, inside
    )
    assert set(picked.queryset) == set(inside)
    assert not picked.is_everything


@pytest.mark.django_db
def test_all_that_match_is_worked_out_again_from_the_filters():
    request = posted({"scope": "match", "match": "app=auth&q=group"})
    picked = load_selection(request, SampleTable, ContentType.objects.all())
    assert [row.model for row in picked.queryset] == ["group"]
    assert picked.fields == {"scope": "match", "match": "app=auth&q=group"}


@pytest.mark.parametrize(
    ("kind", "value", "cell"),
    [
        ("number", 1234, 1234), ("number", "at least 5", "at least 5"), ("number", None, None), ("mono", 42, "42"),
        ("text", 7, "7"), ("yes", True, "yes"), ("yes", False, ""), ("text", chips.Chip("done", text="Done"), "Done"),
        ("time", datetime(2027, 3, 31, 15, tzinfo=UTC), datetime(2027, 4, 1, tzinfo=JST)), ("time", "?", "?"),
        ("date", date(2027, 3, 31), date(2027, 3, 31)),
    ],
)  # fmt: skip
def test_a_files_cell_has_the_type_of_its_column_and_identifiers_are_texts(kind, value, cell):
    found = Column("name", "Name", value=lambda _row: value, kind=kind).file_value(None)
    assert (str(found), type(found)) == (str(cell), type(cell))


@pytest.mark.django_db
@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_files_hold_what_matches_and_formulas_stay_text(kind):
    with kept("=1+1", "=cmd()田中"):
        sample = table("?q=cmd&size=25")
        with closing(file_response(sample, kind, record=None)) as answer:
            content = b"".join(answer)
    if kind == "csv":
        assert content.startswith(b"\xef\xbb\xbf")
        lines = content.decode("utf-8-sig").splitlines()
        assert len(lines) == 2
        assert lines[1].startswith("'=cmd()田中,'=1+1,M-")
    else:
        sheet = load_workbook(io.BytesIO(content)).active
        assert sheet["A2"].value == "=cmd()田中"
        assert sheet["A2"].data_type == "s"


def test_rows_refer_to_their_icons_and_carry_none(support):
    swapped = {"HX-Request": "true", "HX-Target": "sample-list"}
    html = support.get(PAGE, headers=swapped).content.decode()
    assert re.search(r'<tbody>.*<use href="[^"]+/icons[^"]*#', html, re.DOTALL)
    assert "<path" not in html


def test_every_chip_is_drawn_by_reference():
    assert not [state for state in chips.CHIPS if "<path" in chips.chip(state)]


def test_a_cell_with_nothing_to_say_is_short_and_has_no_label(support):
    html = support.get(PAGE).content.decode()
    assert re.search(r'<td class="[^"]*\bnone">', html)
    assert not re.search(r'<td[^>]*\bnone"[^>]*data-label', html)
