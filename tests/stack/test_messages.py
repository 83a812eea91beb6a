"""Translatable strings are found in Python and in templates, and a catalogue that lacks one is refused."""

from pathlib import Path

import pytest

from stack import messages


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for folder in ("accessapi", "tenants", "portal/members", "templates/members", "locale"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "portal/members/views.py").write_text(
        "from django.utils.translation import gettext as _, ngettext\n"
        "def said(count):\n"
        "    return _('Saved.') + ngettext('%(n)d member', '%(n)d members', count) % {'n': count}\n"
    )
    (tmp_path / "templates/members/list.html").write_text(
        "<ul>\n  {% for each in all %}\n"
        "      <li title=\"it's\">{% translate 'Delete' context 'button' %}</li>\n  {% endfor %}\n"
        " {% blocktranslate with name=x trimmed %}\n    Hello\n   {{ name }}\n{% endblocktranslate %}</ul>\n"
    )
    monkeypatch.setattr(messages, "ROOT", tmp_path)
    monkeypatch.setattr(messages, "LOCALE", tmp_path / "locale")
    return tmp_path


def _catalogue(site: Path) -> Path:
    return site / "locale/ja/LC_MESSAGES/django.po"


def test_strings_are_found_wherever_they_stand(site: Path) -> None:
    found = {(each.id, each.context) for each in messages.collect() if each.id}
    assert found == {
        ("Saved.", None),
        (("%(n)d member", "%(n)d members"), None),
        ("Delete", "button"),
        ("Hello %(name)s", None),
    }


def test_translations_survive_an_update_and_what_is_gone_leaves(site: Path) -> None:
    messages.update()
    path = _catalogue(site)
    path.write_text(path.read_text().replace('msgid "Saved."\nmsgstr ""', 'msgid "Saved."\nmsgstr "保存しました。"'))
    (site / "templates/members/list.html").write_text("{% translate 'New' %}")
    messages.update()
    text = path.read_text()
    assert "保存しました。" in text
    assert 'msgid "New"' in text
    assert "Delete" not in text


def test_an_update_without_a_change_writes_the_same_file(site: Path) -> None:
    messages.update()
    before = _catalogue(site).read_bytes()
    messages.update()
    assert _catalogue(site).read_bytes() == before


def test_a_check_names_what_is_missing_and_what_is_not_translated(site: Path) -> None:
    assert any("missing: 'Saved.'" in each for each in messages.check())
    messages.update()
    assert any("not translated: 'Saved.'" in each for each in messages.check())


def test_compiled_catalogues_follow_their_sources(site: Path) -> None:
    messages.update()
    path = _catalogue(site)
    path.write_text(path.read_text().replace('msgid "Saved."\nmsgstr ""', 'msgid "Saved."\nmsgstr "保存しました。"'))
    messages.compile_catalogues()
    assert "保存しました。".encode() in path.with_suffix(".mo").read_bytes()
