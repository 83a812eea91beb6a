"""Finding members by what people type: parts of a name, a code's beginning, a card's number.

Row security forbids PostgreSQL to use an index for array or LIKE operators on the member's own row (they are not
leakproof). So the index is on a table of keyed hashes (models.MemberSearch), which names candidates, and the member's
row, under row security, decides.
"""

from django.db.models import BooleanField, F, Func, Q, QuerySet, Value

from portal.mirror.folding import code_needles, name_needles, terms
from portal.mirror.models import Member, MemberSearch
from portal.mirror.queries import among
from portal.mirror.rows import Reader
from tenants.scope import current_tenant_id


class _Holds(Func):
    """Whether a column holds a text; not LIKE: its guessed selectivity makes PostgreSQL read the whole table first."""

    template = "strpos(%(expressions)s) > 0"
    output_field = BooleanField()

    def __init__(self, column: str, text: str) -> None:
        super().__init__(F(column), Value(text))


def members(queryset: QuerySet[Member], text: str, *, reveal: bool = False) -> QuerySet[Member]:
    """Narrow to the entered tenant's members that hold every word of `text` in their name or code.

    Pieces of one and two characters are indexed as such; of longer words the pieces are, and the row is looked at.

    Width, case and kana do not matter; spaces in names do not either. From three characters on, a word may stand
    anywhere in a code, a shorter one must begin it. With `reveal` (the person may see card numbers) a text that
    is exactly a card's number finds its holder, too. An empty text narrows nothing.
    """
    words = terms(text)
    if not words:
        return queryset
    reader = Reader(current_tenant_id())
    candidates = MemberSearch.objects.all()
    matching = Q()
    for word in words:
        names, codes = reader.hashes(name_needles(word)), reader.hashes(code_needles(word))
        candidates = candidates.filter(Q(pieces__contains=names) | Q(pieces__contains=codes))
        if len(word) > 2:
            matching &= Q(_Holds("name_key", word)) | Q(_Holds("code_key", word))
    holders = _card_holders(reader, text) if reveal else []
    if holders:
        return queryset.filter(Q(pk__in=candidates.values("pk")) & matching | Q(pk__in=holders))
    return among(queryset, candidates.values("pk")).filter(matching)


def _card_holders(reader: Reader, text: str) -> list[int]:
    holders = Member.objects.filter(has_card=True, card_fingerprint=reader.card_fingerprint(text))
    return list(holders.values_list("pk", flat=True)[:10])
