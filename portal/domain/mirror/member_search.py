"""Search members by parts of a name, by code, or by a card's whole number.

With row security, PostgreSQL uses no index for array or LIKE operators on the member's own row, because they are not
leakproof. So the index is on a table of keyed hashes (`models.MemberSearch`), which returns candidates. The member's
row is then checked under row security.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import BooleanField, F, Func, Q, QuerySet, Value

from portal.domain.mirror.models import Member, MemberSearch
from portal.domain.mirror.queries import members as current_members
from portal.domain.mirror.queries import members_with_ids
from portal.domain.mirror.row_building import MemberRowBuilder
from portal.domain.mirror.text_folding import code_search_pieces, fold, name_search_pieces, search_terms
from tenants.access import Access
from tenants.roles import Permission
from tenants.scope import current_tenant_id


class _Contains(Func):
    """The condition that a column contains a text. With LIKE, PostgreSQL would read the whole table first."""

    template = "strpos(%(expressions)s) > 0"
    output_field = BooleanField()

    def __init__(self, column: str, text: str) -> None:
        super().__init__(F(column), Value(text))


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
    words = search_terms(text)
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
            matching &= Q(_Contains("name_key", word)) | Q(_Contains("code_key", word))
    if holders:
        return queryset.filter(Q(pk__in=candidates.values("pk")) & matching | Q(pk__in=holders))
    return members_with_ids(queryset, candidates.values("pk")).filter(matching)


def search_members(queryset: QuerySet[Member], text: str, *, may_see_cards: bool = False) -> QuerySet[Member]:
    """Return the entered tenant's members whose name or code contains every word of `text`; all for an empty text.

    Words of one or two characters are found by the index alone; longer words are also checked in the member's row.

    Width, case, kind of kana and spaces in names do not matter. A word of three or more characters may be anywhere in a
    code; a shorter one must be at its start. With `may_see_cards` (the person may see card numbers), a text that is a
    card's whole number finds its holder, too.
    """
    asked = search_pieces(text)
    if not asked.are_long:
        return queryset
    return filter_members(queryset, asked, _card_holders(text) if may_see_cards and may_be_card_number(text) else ())


def search_for_reader(access: Access, text: str) -> QuerySet[Member]:
    """Return the members that a person with this access finds by a text (see `search_members`), sorted by name."""
    rows = search_members(current_members(), text, may_see_cards=access.can(Permission.SECRETS_REVEAL))
    return rows.order_by("name_key", "pk")


def may_be_card_number(text: str) -> bool:
    """Return whether a text can be a card's whole number, which then needs a separate query."""
    folded = fold(text)
    return len(folded) >= 6 and folded.isascii()


def _card_holders(text: str) -> list[int]:
    fingerprint = MemberRowBuilder(current_tenant_id()).card_fingerprint(text)
    holders = Member.objects.filter(has_card=True, card_fingerprint=fingerprint)
    return list(holders.values_list("pk", flat=True)[:10])
