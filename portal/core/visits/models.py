"""The desk's own records: visits, which outlive the service's guests, and what a tenant set the desk up with."""

from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from accessapi.limits import GRACE_MINUTES_MAX
from portal.core.intents.models import Intent
from portal.core.intents.states import UNDER_WAY, State
from tenants.models import SupportSession, TenantModel


class Stage(models.TextChoices):
    """Whether there is a guest at the service for a visit."""

    ASKED = "asked", _("Requested")  # under way, or uncertain: nobody knows yet
    ISSUED = "issued", _("Issued")
    NOT_ISSUED = "not_issued", _("Not issued")  # surely not: refused, stopped, or shown to be absent


class By(models.TextChoices):
    """Who said that somebody came or went."""

    DESK = "desk", _("Desk")
    HISTORY = "history", _("History")
    ISSUE = "issue", _("With code")  # a walk-in: who stands at the desk gets a code and is in


class Preset(TenantModel):
    """What a tenant issues again and again: where, for how long, with which words.

    A code ends `minutes` after its start, or at the time of day `until` (the next day's when that is past). `keys` is
    a key_devices_list of the specification, `area_ids` an area_id_list.
    """

    name = models.CharField(max_length=60)
    name_ja = models.CharField(max_length=60, blank=True, default="")
    area_ids = models.JSONField(default=list)
    keys = models.JSONField(default=list)
    minutes = models.PositiveIntegerField(null=True)
    until = models.TimeField(null=True)
    grace_minutes = models.PositiveIntegerField(default=0)
    remarks_ja = models.CharField(max_length=200, blank=True, default="")
    remarks_en = models.CharField(max_length=200, blank=True, default="")
    # Whether a walk-in of this kind is checked in with the code.
    arrives = models.BooleanField(default=True, db_default=True)
    position = models.PositiveIntegerField(default=0)
    is_default = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant"], condition=Q(is_default=True), name="guests_one_default_preset"),
            models.CheckConstraint(
                condition=Q(minutes__isnull=True) ^ Q(until__isnull=True), name="guests_preset_ends_one_way"
            ),
            models.CheckConstraint(condition=Q(grace_minutes__lte=GRACE_MINUTES_MAX), name="guests_preset_grace"),
        ]
        indexes = [models.Index(fields=["tenant", "position", "id"], name="guests_preset_order")]

    def __str__(self) -> str:
        japanese = (get_language() or "").startswith("ja")
        return (japanese and self.name_ja) or self.name


class DeskSettings(TenantModel):
    """How a tenant's desk works; a tenant without a row has the defaults (`DeskSettings()`)."""

    class Delivery(models.TextChoices):
        DIRECT = "direct", _("The portal creates the code (screen, print or link)")
        MAIL = "mail", _("The service creates the code and e-mails it")

    # A visit's personal data is erased this many days after its end.
    keep_days = models.PositiveIntegerField(default=90)
    delivery = models.CharField(max_length=10, choices=Delivery, default=Delivery.DIRECT)
    # How long a link to a code works at most; 0: as long as the code.
    link_minutes = models.PositiveIntegerField(default=0)
    # Whether the first use of a guest's code says by itself that the guest arrived.
    arrives_by_history = models.BooleanField(default=True)
    # When the tenant's old visits were last looked through (portal/today/erasing.py).
    erased_through = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant"], name="guests_settings_once")]


class Visit(TenantModel):
    """One guest's visit, as the desk keeps it. The service deletes its guest a week after the end; this stays.

    Issued here (`intent` is what asked for it), or taken over from the service's list (`intent` and `by` are None).
    `guest_id` is None until the service named it. `party` is shared by guests that one form issued, also by a single
    one; None when known only from the service. `host_member_id` is a member's, when the host is one.
    """

    stage = models.CharField(max_length=10, choices=Stage, default=Stage.ASKED)
    guest_id = models.TextField(db_collation="C", null=True)  # noqa: DJ001  (None: there is none yet)
    guest_name = models.TextField()
    name_key = models.TextField(db_collation="C")
    use_date_start = models.DateTimeField()
    use_date_end = models.DateTimeField()
    # The portal made no code of its own: the service sent one by e-mail.
    email_used = models.BooleanField(default=False)

    company = models.CharField(max_length=100, blank=True, default="")
    host_member_id = models.TextField(db_collation="C", blank=True, default="")
    host_name = models.CharField(max_length=100, blank=True, default="")
    host_key = models.TextField(db_collation="C", blank=True, default="")
    party = models.UUIDField(null=True)
    preset = models.ForeignKey(Preset, null=True, on_delete=models.SET_NULL, related_name="+")

    created_at = models.DateTimeField(db_default=Now())
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    intent = models.OneToOneField(Intent, null=True, on_delete=models.PROTECT, related_name="visit")

    # Presence: the portal's own record. What the histories suggest stands beside it until somebody agrees.
    # `arrives`: checked in as soon as there is a code.
    arrives = models.BooleanField(default=False, db_default=False)
    arrived_at = models.DateTimeField(null=True)
    arrived_by = models.CharField(max_length=10, choices=By, blank=True, default="")
    left_at = models.DateTimeField(null=True)
    left_by = models.CharField(max_length=10, choices=By, blank=True, default="")
    suggested_arrival_at = models.DateTimeField(null=True)
    suggested_leave_at = models.DateTimeField(null=True)
    # The first and the newest use of the code, and at which door, as the service's histories named it.
    first_use_place = models.TextField(blank=True, default="", db_default="")
    last_use_at = models.DateTimeField(null=True)
    last_use_place = models.TextField(blank=True, default="", db_default="")

    # A code that must be dead by then, whoever asked for it, and when a reading of the service confirmed that it is.
    # `cut_due_at` is the timer of whoever sees to it (portal/guests/deactivation.py), `cut_intent` the newest sending.
    must_end_at = models.DateTimeField(null=True)
    ended_confirmed_at = models.DateTimeField(null=True)
    cut_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    cut_session = models.ForeignKey(SupportSession, null=True, on_delete=models.PROTECT, related_name="+")
    cut_intent = models.ForeignKey(Intent, null=True, on_delete=models.PROTECT, related_name="+")
    cut_due_at = models.DateTimeField(null=True)
    cut_attempts = models.PositiveIntegerField(default=0)
    # Which of the ways to end it is tried (portal/guests/deactivation_ways.py). Past the last one only a person can
    # help.
    cut_way = models.PositiveSmallIntegerField(default=0, db_default=0)
    # The change by which somebody, knowing of the cut, asked for a later end. The cut stands until the service took it.
    revive_intent = models.ForeignKey(Intent, null=True, on_delete=models.PROTECT, related_name="+")

    # The service no longer has this guest: its code opens nothing any more.
    gone_at = models.DateTimeField(null=True)
    # Name, company and host were blanked.
    erased_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "guest_id"], name="guests_one_visit_per_guest"),
            models.CheckConstraint(
                condition=~Q(stage=Stage.ISSUED) | Q(guest_id__isnull=False), name="guests_issued_is_named"
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "use_date_end", "id"], name="guests_by_end"),
            models.Index(fields=["tenant", "use_date_start", "id"], name="guests_by_start"),
            models.Index(fields=["tenant", "name_key", "use_date_end"], name="guests_by_name"),
            models.Index(fields=["tenant", "host_member_id", "use_date_end"], name="guests_by_host"),
            models.Index(fields=["tenant", "party"], name="guests_by_party", condition=Q(party__isnull=False)),
            models.Index(
                fields=["tenant", "arrived_at"],
                name="guests_here_now",
                condition=Q(arrived_at__isnull=False, left_at__isnull=True),
            ),
            models.Index(fields=["cut_due_at"], name="guests_cut_due", condition=Q(cut_due_at__isnull=False)),
            models.Index(
                fields=["tenant", "must_end_at"],
                name="guests_unconfirmed_cuts",
                condition=Q(must_end_at__isnull=False, ended_confirmed_at__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return self.guest_name or str(_("Deleted"))

    @property
    def is_cut(self) -> bool:
        """Whether somebody asked for this code to die early, and nobody gave it a later end since."""
        if self.must_end_at is None:
            return False
        return self.ended_confirmed_at is None or self.use_date_end <= self.must_end_at

    @property
    def may_still_open(self) -> bool:
        """Cut short, and the service has not confirmed it yet: the code may still open doors."""
        open_end = self.ended_confirmed_at is None and self.gone_at is None
        return self.is_cut and open_end and self.stage != Stage.NOT_ISSUED

    @property
    def is_disarmed(self) -> bool:
        """Cut short by another code without areas and keys, because the service took no earlier end."""
        confirmed = self.ended_confirmed_at
        return self.is_cut and confirmed is not None and self.must_end_at is not None and self.must_end_at > confirmed

    @property
    def dead_since(self) -> datetime | None:
        """From when on a code that was cut short opened nothing any more, as far as it is known."""
        if not self.is_cut:
            return None
        return min(at for at in (self.use_date_end, self.must_end_at, self.ended_confirmed_at) if at is not None)

    @property
    def is_being_revived(self) -> bool:
        """A later end was asked for, and it is not known yet whether the service took it: nobody cuts meanwhile."""
        asked = self.revive_intent
        if not self.is_cut or asked is None:
            return False
        return asked.state in UNDER_WAY or (asked.state == State.UNCERTAIN and asked.due_at is not None)


class DeskAct(TenantModel):
    """One press at the desk that said who came or went, so that it can be taken back.

    `changes` is [visit, before, after] for each visit of it; both are the four columns of presence, as JSON.
    """

    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(db_default=Now())
    changes = models.JSONField(default=list)
    undone_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["tenant", "by", "-id"], name="guests_acts_of_person")]


class CodeLink(TenantModel):
    """An address on which a guest sees the own code, and nothing else. Only a digest of its secret is kept."""

    visit = models.ForeignKey(Visit, on_delete=models.CASCADE, related_name="links")
    digest = models.BinaryField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)
    opened = models.PositiveIntegerField(default=0)
    opened_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["digest"], name="guests_one_link_per_secret")]
        indexes = [models.Index(fields=["visit", "-id"], name="guests_links_of_visit")]
