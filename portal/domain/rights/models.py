"""Rights that a tenant keeps to use again, for example "office hours" or "cleaning"."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from accessapi.permissions import by_schedule
from tenants.models import TenantModel

NAME_MAX = 40


class RightsTemplate(TenantModel):
    """Named rights: `schedule` is a single pass for any place, or `devices_pass` and `keys_pass` are complete rights.

    All are written as in the specification; None: not part of the template. Rights that were given from a template do
    not change with it.
    """

    class Kind(models.TextChoices):
        SCHEDULE = "schedule", _("A schedule")
        RIGHTS = "rights", _("Full set of rights")

    kind = models.CharField(max_length=10, choices=Kind)
    name = models.CharField(max_length=NAME_MAX)
    name_ja = models.CharField(max_length=NAME_MAX, blank=True, default="")
    schedule = models.JSONField(null=True)
    devices_pass = models.JSONField(null=True)
    keys_pass = models.JSONField(null=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    changed_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "name"], name="rights_template_once")]

    def __str__(self) -> str:
        return self.title

    @property
    def title(self) -> str:
        """Return the name in the reader's language."""
        return self.name_ja if self.name_ja and (get_language() or "").startswith("ja") else self.name

    @property
    def pass_(self) -> Any:
        """Return the schedule as a pass; an empty one if the template is a full set of rights."""
        return self.schedule if self.schedule is not None else by_schedule()
