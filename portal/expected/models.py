"""A spreadsheet of expected guests, and its rows on their way to codes."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from portal.core.visits.models import Visit
from tenants.models import SupportSession, TenantModel
from tenants.vault import EncryptedJSON


class ListState(models.TextChoices):
    CHECKED = "checked", _("Dry run done")
    RUNNING = "running", _("Issuing")
    DONE = "done", _("Finished")
    STOPPED = "stopped", _("Stopped")


class Verdict(models.TextChoices):
    """What the dry run says of a row."""

    READY = "ready", _("New code")
    DOUBLE = "double", _("Likely a double")
    REFUSED = "refused", _("Refused")


class RowState(models.TextChoices):
    """How far a row has come; from `asked` on its visit and its intent say more."""

    NONE = "", ""
    PENDING = "pending", _("Waiting")
    ASKED = "asked", _("Asked for")
    LEFT_OUT = "left_out", _("Not sent")


class ExpectedList(TenantModel):
    """One uploaded list. `mail`: those with an address get their code from the service by e-mail.

    `due_at` is the timer of a running list; `last_end` the latest end of its rows, from which retention counts.
    `fingerprint` is a keyed digest: the same file is recognised when it comes again.
    """

    name = models.CharField(max_length=200)
    fingerprint = models.BinaryField()
    headings = EncryptedJSON()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    support_session = models.ForeignKey(SupportSession, null=True, on_delete=models.PROTECT, related_name="+")
    mail = models.BooleanField(default=False)
    with_doubles = models.BooleanField(default=False)

    state = models.CharField(max_length=10, choices=ListState, default=ListState.CHECKED)
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    stop_asked = models.BooleanField(default=False)
    due_at = models.DateTimeField(null=True)
    last_end = models.DateTimeField(null=True)
    erased_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "-id"], name="expected_newest"),
            models.Index(fields=["tenant", "fingerprint"], name="expected_same_file"),
            models.Index(fields=["due_at"], name="expected_due", condition=models.Q(due_at__isnull=False)),
        ]

    def __str__(self) -> str:
        return self.name


class ExpectedRow(TenantModel):
    """One line of the file. `content` (encrypted): {"cells": as uploaded, "order": what would be issued, or null}.

    `problems` is [[field, word, {facts}], …] without values of the file. `marks` are the visits that a person saw as
    likely doubles before starting. `attempt` counts askings that surely were not sent: with list and line it names the
    intent, so that no row is ever asked for twice.
    """

    job = models.ForeignKey(ExpectedList, on_delete=models.CASCADE, related_name="rows")
    line = models.PositiveIntegerField()
    verdict = models.CharField(max_length=10, choices=Verdict)
    state = models.CharField(max_length=10, choices=RowState, blank=True, default=RowState.NONE)
    content = EncryptedJSON(null=True)
    problems = models.JSONField(default=list)
    marks = models.JSONField(default=list)
    attempt = models.PositiveSmallIntegerField(default=0)
    visit = models.ForeignKey(Visit, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["job", "line"], name="expected_one_row_a_line")]
        indexes = [models.Index(fields=["job", "state", "line"], name="expected_row_by_state")]
