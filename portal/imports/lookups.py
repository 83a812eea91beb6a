"""What rows about members are compared with: groups, members, holders of cards, and the rights of new members.

The data for a batch of rows is loaded first, with one query for each kind of key. Checking a row then needs no queries.
"""

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from django.core.exceptions import ValidationError

from accessapi import limits
from portal.domain.people.member_fields import MEMBER
from portal.domain.people.models import Group, Member
from portal.domain.people.row_building import MemberRowBuilder
from portal.domain.people.text_folding import fold, stored_forms
from portal.domain.rights import member_rights
from portal.domain.rights.models import RightsTemplate

# Return the rights of a new member of a group; None if the rights source no longer exists.
RightsForGroup = Callable[[str], member_rights.RightsBody | None]


@dataclass
class GroupIndex:
    """The tenant's groups by ID and by name.

    Names are compared exactly first, then without case and character width.
    """

    names: dict[str, str] = field(default_factory=dict)  # id -> name

    @classmethod
    def load(cls) -> "GroupIndex":
        return cls(dict(Group.objects.values_list("membergroup_id", "membergroup_name")))

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        by_name: dict[str, list[str]] = {}
        for group_id, name in self.names.items():
            for key in {name, fold(name)}:
                by_name.setdefault(key, []).append(group_id)
        return by_name

    def find_ids(self, text: str) -> list[str]:
        """Return the group IDs that match a cell: one is clear, none is unknown, several are ambiguous."""
        if text in self.names:
            return [text]
        return self._by_name.get(text) or self._by_name.get(fold(text)) or []

    @cached_property
    def _hints(self) -> dict[str, str]:
        return {}

    def suggestion(self, text: str) -> str:
        """Return a similar group name, or an empty string."""
        if text not in self._hints and len(self._hints) < 1000:
            close = difflib.get_close_matches(fold(text), [fold(name) for name in self.names.values()], 1, 0.6)
            closest = next((name for name in self.names.values() if close and fold(name) == close[0]), "")
            self._hints[text] = closest
        return self._hints.get(text, "")


@dataclass
class KnownMembers:
    """The members that a batch of rows may refer to, and the holders of their cards.

    `by_code`: by the folded code, as the search finds them. `by_digits`: by a code of digits without its first zeros.
    """

    by_id: Mapping[str, Member]
    by_code: Mapping[str, list[Member]]
    by_digits: Mapping[str, Member]
    holders_by_card: Mapping[bytes, list[str]]  # fingerprint -> member IDs
    reader: MemberRowBuilder

    @classmethod
    def load(cls, reader: MemberRowBuilder, ids: set[str], codes: set[str], cards: Iterable[str]) -> "KnownMembers":
        """Load the members with these IDs or codes, and those who hold these cards."""
        present = Member.objects.filter(gone_at__isnull=True).only(
            "id", "tenant_id", "member_id", *MEMBER.listed_columns
        )
        by_id = {member.member_id: member for member in present.filter(member_id__in=ids)} if ids else {}
        by_code: dict[str, list[Member]] = {}
        for member in present.filter(code_key__in=_forms(codes)) if codes else ():
            by_code.setdefault(fold(member.member_code), []).append(member)
        unknown = {key for code in codes if (key := fold(code)).isdecimal() and key not in by_code}
        padded = {key.zfill(n) for key in unknown for n in _lengths_above(key)}
        similar = present.filter(code_key__in=padded) if padded else ()
        digits = {member.code_key.lstrip("0"): member for member in similar}
        prints = {reader.card_fingerprint(card) for card in cards}
        owners: dict[bytes, list[str]] = {}
        holders = present.filter(has_card=True, card_fingerprint__in=prints) if prints else Member.objects.none()
        for print_, member_id in holders.values_list("card_fingerprint", "member_id"):
            owners.setdefault(bytes(print_ or b""), []).append(member_id)
        return cls(by_id, by_code, digits, owners, reader)

    def with_code(self, code: str) -> list[Member]:
        """Return the members with this code: exactly this one, otherwise those of the same folded code."""
        found = self.by_code.get(fold(code), [])
        exact = [member for member in found if member.member_code == code]
        return exact or found

    def card_holders(self, card: str) -> list[str]:
        return self.holders_by_card.get(self.reader.card_fingerprint(card), [])


def _forms(texts: Iterable[str]) -> set[str]:
    """Return all folded forms in which these texts may be stored."""
    return {form for text in texts for form in stored_forms(text)}


def _lengths_above(digits: str) -> range:
    """Return the lengths of codes that a spreadsheet may have shortened to these digits, up to twelve."""
    return range(len(digits) + 1, min(12, limits.MEMBER_CODE_MAX) + 1)


def rights_source(saved: Mapping[str, str], groups: GroupIndex) -> RightsForGroup:
    """Return a function that gives a new member's rights, based on the present mirror and templates."""
    match saved.get("source"):
        case "template":
            return _same_for_all(_rights_of_template(saved["template"]))
        case "member":
            return _same_for_all(_rights_of_member(saved["member"]))
        case "group":
            usual = member_rights.usual_rights(groups.names)
            return lambda group: usual.get(group)
        case _:
            return lambda _group: {}


def _same_for_all(body: member_rights.RightsBody | None) -> RightsForGroup:
    return lambda _group: body


def _rights_of_template(pk: str) -> member_rights.RightsBody | None:
    template = RightsTemplate.objects.filter(pk=int(pk), kind=RightsTemplate.Kind.RIGHTS).first()
    return member_rights.rights_of_template(template) if template else None


def _rights_of_member(text: str) -> member_rights.RightsBody | None:
    try:
        return member_rights.rights_of_member(member_rights.find_source_member(text)) or None
    except ValidationError:
        return None
