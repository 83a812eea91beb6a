"""Queries for members with their filters, for groups and guests, and the search for members.

The search finds parts of a name, a code, or a card's whole number. With row security, PostgreSQL uses no index for
array or LIKE operators on the member's own row, because they are not leakproof. So the index is on a table of keyed
hashes (`models.MemberSearch`), which returns candidates. The member's row is then checked under row security.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import BooleanField, Exists, F, Func, OuterRef, Q, QuerySet, TextChoices, Value
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from portal.base.ui.url_lookup import RowLookup
from portal.domain.people.keyboard_layouts import is_from_other_layout, scanned_numbers
from portal.domain.people.models import NEVER, UNREADABLE, Group, Guest, Member, MemberSearch
from portal.domain.people.row_building import MemberRowBuilder
from portal.domain.people.text_folding import (
    code_search_pieces,
    fold,
    name_search_pieces,
    search_terms,
    search_words,
    stored_forms,
)
from tenants.access import Access
from tenants.roles import Permission
from tenants.scope import current_tenant_id


class Credential(TextChoices):
    """The credentials of a member, as values of a filter. They appear in URLs."""

    CARD = "card", _("Card")
    QR = "qr", _("QR code")
    FACE = "face", _("Face")
    NONE = "none", _("None")


class Validity(TextChoices):
    """The state of a member's use period, as values of a filter. They appear in URLs."""

    VALID = "valid", _("Active")
    EXPIRED = "expired", _("Expired")
    FUTURE = "future", _("Not started")
    NEVER_ENDING = "never", _("No end date")
    UNREADABLE = "unreadable", _("End date unreadable")


_CREDENTIAL_CONDITIONS = {
    Credential.CARD: Q(has_card=True),
    Credential.QR: Q(has_qr=True),
    Credential.FACE: Q(has_face=True),
    Credential.NONE: Q(has_card=False, has_qr=False, has_face=False),
}

# Look-ups for the identifiers in URLs. For members, there is one that includes gone members.
_members = RowLookup(lambda: Member.objects.filter(gone_at__isnull=True), member_id="")
_members_and_gone = RowLookup(Member.objects.all, member_id="")
_groups = RowLookup(Group.objects.all, membergroup_id="")
_MAX_FORMER = 500


class _IsOneOf(Func):
    """The condition that an ID is among the results of a query, checked with one index scan.

    With IN, PostgreSQL would choose a join by estimated counts, which takes two to four times as long. Use IN inside
    NOT and OR: there, this condition would compare each row with all IDs.
    """

    template = "%(expressions)s)"
    arg_joiner = " = ANY("
    output_field = BooleanField()


def members_with_ids(members: QuerySet[Member], ids: QuerySet[Any, Any], field: str = "pk") -> QuerySet[Member]:
    """Return the members whose IDs a query returns. PostgreSQL looks these up before it applies other conditions.

    `field`: "member_id" for the service's IDs.
    """
    return members.filter(_IsOneOf(F(field), ArraySubquery(ids)))


def members() -> QuerySet[Member]:
    """Return the entered tenant's members that the service still has, without their secrets."""
    return Member.objects.filter(gone_at__isnull=True).defer("card_data", "qrcode", "rights", "extra")


def members_never_seen() -> QuerySet[Member]:
    """Return the members without any log record in the time that was read (`coverage`)."""
    return members().filter(last_seen_at__isnull=True)


def members_sharing_card() -> QuerySet[Member]:
    """Return the members whose card another member has, too."""
    same = Member.objects.filter(has_card=True, gone_at__isnull=True, card_fingerprint=OuterRef("card_fingerprint"))
    return members().filter(Exists(same.exclude(pk=OuterRef("pk"))), shares_card=True, has_card=True)


def filter_by_groups(queryset: QuerySet[Member], membergroup_ids: Iterable[str]) -> QuerySet[Member]:
    """Return the members of any of the groups."""
    return queryset.filter(membergroup_id__in=list(membergroup_ids))


def filter_by_credentials(queryset: QuerySet[Member], values: Iterable[str]) -> QuerySet[Member]:
    """Return the members with any of the credentials."""
    condition = Q()
    for value in values:
        condition |= _CREDENTIAL_CONDITIONS[Credential(value)]
    return queryset.filter(condition)


def validity_condition(value: Validity, now: datetime) -> Q:
    """Return the condition on members for a state of their use period at `now`."""
    second = int(now.timestamp())
    started = Q(use_date_start__isnull=True) | Q(use_date_start__lte=now)
    meaning = {
        Validity.VALID: Q(use_end_key__gte=second) & started,
        Validity.EXPIRED: Q(use_end_key__lt=second),
        Validity.FUTURE: Q(use_date_start__gt=now),
        Validity.NEVER_ENDING: Q(use_end_key=NEVER),
        Validity.UNREADABLE: Q(use_end_key=UNREADABLE),
    }
    return meaning[value]


def groups() -> QuerySet[Group]:
    """Return the entered tenant's groups, sorted by name."""
    return Group.objects.order_by("name_key", "pk")


def group_names() -> QuerySet[Group, tuple[str, str]]:
    """Return the tenant's groups by name, as choices of a form or filter."""
    return groups().values_list("membergroup_id", "membergroup_name")


def guests() -> QuerySet[Guest]:
    """Return the entered tenant's guests that the service still has, without their secrets."""
    return Guest.objects.filter(gone_at__isnull=True).defer("email", "qrcode_data", "detail", "extra")


def get_member(member_id: str, *, include_gone: bool = False) -> Member:
    """Return the member, or raise Http404. `include_gone`: also one that is marked as gone."""
    return (_members_and_gone if include_gone else _members).get_or_404(member_id=member_id)


def find_members(member_ids: Iterable[str]) -> list[Member]:
    """Return those of these members that the service still has, without their secrets, in one query."""
    valid = [member_id for member_id in member_ids if "\x00" not in member_id]
    rows = Member.objects.filter(member_id__in=valid, gone_at__isnull=True)
    return list(rows.defer("card_data", "qrcode", "extra"))


def get_group(membergroup_id: str) -> Group:
    return _groups.get_or_404(membergroup_id=membergroup_id)


class ContainsText(Func):
    """The condition that a column contains a text. With LIKE, PostgreSQL would read the whole table first."""

    template = "strpos(%(expressions)s) > 0"
    output_field = BooleanField()

    def __init__(self, column: str, text: str) -> None:
        super().__init__(F(column), Value(text))


def contains_folded(column: str, text: str) -> Q:
    """Return the condition that a folded column contains a text."""
    condition = Q()
    for form in stored_forms(text):
        condition |= Q(ContainsText(column, form))
    return condition


class _HasAll(Func):
    """The condition that a member has all of the pieces, given as the text of an array."""

    template = "%(expressions)s::int4[]"
    arg_joiner = " @> "
    output_field = BooleanField()

    def __init__(self, pieces: str) -> None:
        super().__init__(F("pieces"), Value(pieces))


@dataclass(frozen=True)
class SearchPieces:
    """The pieces of a search text. Searches with the same `are_long` have the same SQL with other `values`."""

    are_long: tuple[bool, ...]  # for each word, whether it has more characters than a piece
    values: dict[str, str]


def search_pieces(text: str) -> SearchPieces:
    """Return the pieces that names and codes must have to match each word of a text."""
    return _pieces_of(search_terms(text))


def _pieces_of(words: Sequence[str]) -> SearchPieces:
    if not words:
        return SearchPieces((), {})
    values, reader = {}, MemberRowBuilder(current_tenant_id())
    for number, word in enumerate(words):
        values[f"word{number}"] = word
        for kind, pieces in (("name", name_search_pieces(word)), ("code", code_search_pieces(word))):
            values[f"{kind}{number}"] = f"{{{','.join(map(str, reader.hashes(pieces)))}}}"
    return SearchPieces(tuple(len(word) > 2 for word in words), values)


def filter_members(queryset: QuerySet[Member], pieces: SearchPieces, holders: Sequence[int] = ()) -> QuerySet[Member]:
    """Return the members of a queryset whose names or codes contain every word, and the `holders`."""
    candidates, matching = MemberSearch.objects.all(), Q()
    for number, long in enumerate(pieces.are_long):
        word, name, code = (pieces.values[f"{kind}{number}"] for kind in ("word", "name", "code"))
        candidates = candidates.filter(Q(_HasAll(name)) | Q(_HasAll(code)))
        if long:
            matching &= Q(ContainsText("name_key", word)) | Q(ContainsText("code_key", word))
    if holders:
        return queryset.filter(Q(pk__in=candidates.values("pk")) & matching | Q(pk__in=holders))
    return members_with_ids(queryset, candidates.values("pk")).filter(matching)


def search_members(queryset: QuerySet[Member], text: str, *, may_see_cards: bool = False) -> QuerySet[Member]:
    """Return the entered tenant's members whose name or code contains every word of `text`; all for an empty text.

    Words of one or two characters are found by the index alone; longer words are also checked in the member's row.

    Width, case, accents, kind of kana and spaces in names do not matter. A word of three or more characters may be
    anywhere in a code; a shorter one must be at its start. With `may_see_cards` (the person may see card numbers), a
    text that is a card's whole number finds its holder, too. If nothing is found, so does a number that a scanner typed
    through another keyboard layout.
    """
    pieces = search_pieces(text)
    if not pieces.are_long:
        return queryset
    holders = _card_holders([text]) if may_see_cards and may_be_card_number(text) else []
    found = filter_members(queryset, pieces, [*holders, *_found_by_former_form(text)])
    if may_see_cards and not holders and (numbers := scanned_numbers(text)) and not found.exists():
        return queryset.filter(pk__in=_card_holders(numbers))
    return found


def search_for_reader(access: Access, text: str) -> QuerySet[Member]:
    """Return the members that a person with this access finds by a text (see `search_members`), sorted by name."""
    rows = search_members(members(), text, may_see_cards=access.can(Permission.SECRETS_REVEAL))
    return rows.order_by("name_key", "pk")


def _has_former_form(text: str) -> bool:
    """Return whether rows that were not refolded yet have this text in another form, which needs a separate query."""
    return any(len(stored_forms(word)) > 1 for word in search_words(text))


def _found_by_former_form(text: str) -> list[int]:
    """Return members that were not refolded yet (`refolding.py`) and whose former name or code has every word."""
    if not _has_former_form(text):
        return []
    pieces = _pieces_of([stored_forms(word)[-1] for word in search_words(text)])
    return list(filter_members(members(), pieces).values_list("pk", flat=True)[:_MAX_FORMER])


def needs_separate_query(text: str, *, may_see_cards: bool) -> bool:
    """Return whether the search for a text needs more than its pieces: for a card, or for a former form."""
    return _has_former_form(text) or (may_see_cards and (may_be_card_number(text) or bool(scanned_numbers(text))))


def may_be_card_number(text: str) -> bool:
    """Return whether a text can be a card's whole number, which then needs a separate query."""
    folded = fold(text)
    return len(folded) >= 6 and folded.isascii()


def scanner_hint(text: str, *, may_see_cards: bool) -> str:
    """Return a hint for a search without results, if a scanner seems to have typed the text; else ""."""
    if not (may_see_cards and is_from_other_layout(text)):
        return ""
    return _t(
        "This looks like a card read with another keyboard layout. Check the layout of the scanner and Caps Lock."
    )


def _card_holders(numbers: Iterable[str]) -> list[int]:
    reader = MemberRowBuilder(current_tenant_id())
    holders = Member.objects.filter(has_card=True, card_fingerprint__in=map(reader.card_fingerprint, numbers))
    return list(holders.values_list("pk", flat=True)[:10])
