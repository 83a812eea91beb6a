"""What the mirror knows about the rows of a batch: one query for each way of finding, at any size of tenant."""

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from django.core.exceptions import ValidationError

from portal.core.mirror.fields.members import CARD, MEMBER
from portal.core.mirror.folding import fold
from portal.core.mirror.models import Group, Member
from portal.core.mirror.rows import MemberReader
from portal.core.rights import giving
from portal.core.rights.models import RightsTemplate
from portal.imports.columns import Cells
from tenants.scope import current_tenant_id

# What a new member of a group gets. None: it was asked for something that is not there (any more).
Give = Callable[[str], giving.Body | None]


@dataclass
class Groups:
    """The tenant's groups, by ID and by name. Names are compared as written first, then without case and width."""

    names: dict[str, str] = field(default_factory=dict)  # id -> name

    @classmethod
    def known(cls) -> "Groups":
        return cls(dict(Group.objects.values_list("membergroup_id", "membergroup_name")))

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for group_id, name in self.names.items():
            for key in {name, fold(name)}:
                found.setdefault(key, []).append(group_id)
        return found

    def find(self, text: str) -> list[str]:
        """The IDs that a cell may mean: one is right, none is unknown, several are not clear."""
        if text in self.names:
            return [text]
        return self._by_name.get(text) or self._by_name.get(fold(text)) or []

    @cached_property
    def _hints(self) -> dict[str, str]:
        return {}

    def hint(self, text: str) -> str:
        """The name that somebody may have meant, or nothing."""
        if text not in self._hints and len(self._hints) < 1000:
            close = difflib.get_close_matches(fold(text), [fold(name) for name in self.names.values()], 1, 0.6)
            meant = next((name for name in self.names.values() if close and fold(name) == close[0]), "")
            self._hints[text] = meant
        return self._hints.get(text, "")


@dataclass
class Known:
    """The members that a batch of rows may mean, and whose cards they name."""

    by_id: Mapping[str, Member]
    by_code: Mapping[str, list[Member]]
    card_owners: Mapping[bytes, list[str]]  # fingerprint -> member IDs
    reader: MemberReader

    def owners(self, card: str) -> list[str]:
        return self.card_owners.get(self.reader.card_fingerprint(card), [])


def known(rows: Iterable[Cells]) -> Known:
    """Look up everything that the rows name."""
    rows = list(rows)
    reader = MemberReader(current_tenant_id())
    ids = {row.member_id for row in rows if row.member_id}
    codes = {row.code for row in rows if row.code and not row.member_id}
    cards = {reader.card_fingerprint(row.given[CARD.name]) for row in rows if row.given.get(CARD.name)}
    present = Member.objects.filter(gone_at__isnull=True).only("id", "tenant_id", "member_id", *MEMBER.listed)
    by_id = {member.member_id: member for member in present.filter(member_id__in=ids)} if ids else {}
    by_code: dict[str, list[Member]] = {}
    if codes:
        for member in present.filter(code_key__in={fold(code) for code in codes}):
            by_code.setdefault(member.member_code, []).append(member)
    owners: dict[bytes, list[str]] = {}
    if cards:
        holders = present.filter(has_card=True, card_fingerprint__in=cards)
        for print_, member_id in holders.values_list("card_fingerprint", "member_id"):
            owners.setdefault(bytes(print_ or b""), []).append(member_id)
    return Known(by_id, by_code, owners, reader)


def giver(kept: Mapping[str, str], groups: Groups) -> Give:
    """Return what gives new members their rights, as the mirror and the templates are now."""
    match kept.get("source"):
        case "template":
            return _same_for_all(_of_template(kept["template"]))
        case "member":
            return _same_for_all(_of_member(kept["member"]))
        case "group":
            found = giving.usual(groups.names)
            return lambda group: found.get(group)
        case _:
            return lambda _group: {}


def _same_for_all(body: giving.Body | None) -> Give:
    return lambda _group: body


def _of_template(pk: str) -> giving.Body | None:
    found = RightsTemplate.objects.filter(pk=int(pk), kind=RightsTemplate.Kind.RIGHTS).first()
    return giving.of_template(found) if found else None


def _of_member(text: str) -> giving.Body | None:
    try:
        return giving.of_member(giving.model(text)) or None
    except ValidationError:
        return None
