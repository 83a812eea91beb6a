"""A tenant's rights templates: the two suggested ones, and the staff's changes to them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _
from django.utils.translation import override

from accessapi.permissions import by_schedule, weekly
from accessapi.permissions.passes import WEEKDAYS, Json
from portal.domain.intents.recording import Requester
from portal.domain.rights import words
from portal.domain.rights.models import RightsTemplate
from tenants import audit
from tenants.wording import coded_sentence


@dataclass(frozen=True)
class SuggestedTemplate:
    """A suggested template. Nothing is stored until a person adds it."""

    key: str
    name: str
    name_ja: str
    pass_: Json

    @property
    def title(self) -> str:
        return _(self.name)


def suggested_templates() -> list[SuggestedTemplate]:
    """Return suggestions for office hours and cleaning."""
    office, cleaning = "Office hours", "Cleaning"
    return [
        SuggestedTemplate(
            "office", office, _in_japanese(office), by_schedule(weekly("08:00:00", "19:00:00", *WEEKDAYS[:5]))
        ),
        SuggestedTemplate(
            "cleaning",
            cleaning,
            _in_japanese(cleaning),
            by_schedule(weekly("06:00:00", "08:00:00", *WEEKDAYS[:6]), weekly("19:00:00", "22:00:00", *WEEKDAYS[:5])),
        ),
    ]


def _in_japanese(name: str) -> str:
    _("Office hours"), _("Cleaning")  # so that they are collected for translation
    with override("ja"):
        return _(name)


class NameTaken(Exception):
    """Another template got this name at the same moment."""


def save_template(*, by: Requester, template: RightsTemplate | None = None, **values: Any) -> RightsTemplate:
    """Store a new template or the changed values of one, with its audit row. Raises NameTaken."""
    try:
        return _save_row(by, template, values)
    except IntegrityError as error:
        raise NameTaken from error


def _save_row(by: Requester, template: RightsTemplate | None, values: Mapping[str, Any]) -> RightsTemplate:
    with transaction.atomic():
        row = template or RightsTemplate(tenant=by.tenant)
        before = _template_values(row) if row.pk else None
        for name, value in values.items():
            setattr(row, name, value)
        row.by, row.changed_at = by.user, Now()
        row.save()
        _audit_template(
            row, by, "rights_template.change" if before else "rights_template.create", before, _template_values(row)
        )
    return row


def delete_template(*, template: RightsTemplate, by: Requester) -> None:
    """Delete a template. Rights that were given from it do not change."""
    with transaction.atomic():
        before = _template_values(template)
        pk = template.pk
        template.delete()
        template.pk = pk
        _audit_template(template, by, "rights_template.delete", before, None)


def _audit_template(row: RightsTemplate, by: Requester, action: str, before: Any, after: Any) -> None:
    audit.record(
        **by.audit_author,
        action=action,
        target=f"rights_template:{row.pk}",
        summary=coded_sentence(action, name=row.name),
        before=before,
        after=after,
    )


def _template_values(row: RightsTemplate) -> dict[str, Any]:
    """Return the template for the audit log, with rights as they are sent."""
    named = {"name": row.name, "name_ja": row.name_ja}
    if row.kind == RightsTemplate.Kind.SCHEDULE:
        return {**named, "schedule": row.schedule}
    return {**named, "devices_pass": row.devices_pass, "keys_pass": row.keys_pass}


def template_words(kept: Mapping[str, Any]) -> dict[str, str]:
    """Return a template of the audit log in the reader's words."""
    if "schedule" in kept:
        return {"when": words.pass_text(kept["schedule"])}
    return {"when": words.summary_text(kept.get("devices_pass"), kept.get("keys_pass"))}
