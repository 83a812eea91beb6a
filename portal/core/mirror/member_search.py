"""Finding members by what people type: parts of a name, a code's beginning, a card's number.

Row security forbids PostgreSQL to use an index for array or LIKE operators on the member's own row (they are not
leakproof). So the index is on a table of keyed hashes (models.MemberSearch), which names candidates, and the member's
row, under row security, decides.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import BooleanField, F, Func, Q, QuerySet, Value

from portal.core.mirror.models import Member, MemberSearch
from portal.core.mirror.queries import members as current_members
from portal.core.mirror.queries import members_with_ids
from portal.core.mirror.row_building import MemberRowBuilder
from portal.core.mirror.text_folding import code_search_pieces, fold, name_search_pieces, search_terms
from tenants.access import Access
from tenants.roles import Permission
from tenants.scope import current_tenant_id


class _Contains(Func):
    """Whether a column holds a text; not LIKE: its guessed selectivity makes PostgreSQL read the whole table first."""

    template = "strpos(%(expressions)s) > 0"
    output_field = BooleanField()

    def __init__(self, column: str, text: str) -> None:
        super().__init__(F(column), Value(text))


class _HasAll(Func):
    """Whether a member has all of the pieces, given as the text of an array."""

    template = "%(expressions)s::int4[]"
    arg_joiner = " @> "
    output_field = BooleanField()

    def __init__(self, pieces: str) -> None:
        super().__init__(F("pieces"), Value(pieces))


@dataclass(frozen=True)
class SearchPieces:
    """What a text is looked for by. Two with the same `are_long` are the same question about other `values`."""

    are_long: tuple[bool, ...]  # of each word, whether it has more characters than a piece
    values: dict[str, str]


def search_pieces(text: str) -> SearchPieces:
    """Each word of a text as the pieces of a name and of a code that holds it."""
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
    """The members of a queryset that hold every word, and the `holders` besides."""
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
    """Narrow to the entered tenant's members that hold every word of `text` in their name or code.

    Pieces of one and two characters are indexed as such; of longer words the pieces are, and the row is looked at.

    Width, case and kana do not matter; spaces in names do not either. From three characters on, a word may stand
    anywhere in a code, a shorter one must begin it. With `may_see_cards` (the person may see card numbers) a text that
    is exactly a card's number finds its holder, too. An empty text narrows nothing.
    """
    asked = search_pieces(text)
    if not asked.are_long:
        return queryset
    return filter_members(queryset, asked, _card_holders(text) if may_see_cards and may_be_card_number(text) else ())


def search_for_reader(access: Access, text: str) -> QuerySet[Member]:
    """Return the members that a text finds for this reader (see `search_members`), by name."""
    rows = search_members(current_members(), text, may_see_cards=access.can(Permission.SECRETS_REVEAL))
    return rows.order_by("name_key", "pk")


def may_be_card_number(text: str) -> bool:
    """Whether a text can be the whole number of a card: what cannot is not worth a query of its own."""
    folded = fold(text)
    return len(folded) >= 6 and folded.isascii()


def _card_holders(text: str) -> list[int]:
    fingerprint = MemberRowBuilder(current_tenant_id()).card_fingerprint(text)
    holders = Member.objects.filter(has_card=True, card_fingerprint=fingerprint)
    return list(holders.values_list("pk", flat=True)[:10])
