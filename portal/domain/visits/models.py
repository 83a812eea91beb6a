"""The desk's own records: visits, which outlive the service's guests, and the settings of a tenant's desk."""

from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from accessapi.limits import GRACE_MINUTES_MAX
from portal.domain.intents.models import UNDER_WAY, Intent, State
from tenants.models import SupportSession, TenantModel


class Stage(models.TextChoices):
    """The state of a visit's guest at the service."""

    REQUESTED = "requested", _("Requested")  # under way or uncertain: the result is unknown
    ISSUED = "issued", _("Issued")
    NOT_ISSUED = "not_issued", _("Not issued")  # certain: refused, stopped, or confirmed to be absent


class By(models.TextChoices):
    """The source of an arrival or a departure."""

    DESK = "desk", _("Desk")
    HISTORY = "history", _("History")
    ISSUE = "issue", _("With code")  # a walk-in: checked in when the code is issued


class Preset(TenantModel):
    """A kind of visit that a tenant issues often: places, hours and remarks.

    A code ends `minutes` after its start, or at the time of day `until` (on the next day if that is past). `keys` is a
    key_devices_list of the specification, `area_ids` an area_id_list.
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
    # True if a walk-in of this kind is checked in with the code.
    arrives = models.BooleanField(default=True, db_default=True)
    position = models.PositiveIntegerField(default=0)
    is_default = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant"], condition=Q(is_default=True), name="visits_one_default_preset"),
            models.CheckConstraint(
                condition=Q(minutes__isnull=True) ^ Q(until__isnull=True), name="visits_preset_ends_one_way"
            ),
            models.CheckConstraint(condition=Q(grace_minutes__lte=GRACE_MINUTES_MAX), name="visits_preset_grace"),
        ]
        indexes = [models.Index(fields=["tenant", "position", "id"], name="visits_preset_order")]

    def __str__(self) -> str:
        japanese = (get_language() or "").startswith("ja")
        return (japanese and self.name_ja) or self.name


class SlipPaper(models.TextChoices):
    """The paper of a label printer: a roll of some width, or labels of one size."""

    ROLL_58 = "58", _("58 mm roll")
    ROLL_62 = "62", _("62 mm roll")
    ROLL_80 = "80", _("80 mm roll")
    ROLL_102 = "102", _("102 mm roll")
    LABEL_54_101 = "54x101", _("54 × 101 mm die-cut labels")
    LABEL_62_100 = "62x100", _("62 × 100 mm die-cut labels")
    LABEL_102_152 = "102x152", _("102 × 152 mm die-cut labels")

    @property
    def size(self) -> tuple[int, int | None]:
        """Return width and height in millimetres. On a roll, the height is None: as much as needed."""
        width, _by, height = self.value.partition("x")
        return int(width), int(height) if height else None


class DeskSettings(TenantModel):
    """The settings of a tenant's desk. A tenant without a row has the defaults (`DeskSettings()`)."""

    class Delivery(models.TextChoices):
        DIRECT = "direct", _("A code is created for the desk (screen, print or link)")
        MAIL = "mail", _("A code is created and e-mailed")

    # A visit's personal data is erased this many days after its end.
    keep_days = models.PositiveIntegerField(default=90)
    delivery = models.CharField(max_length=10, choices=Delivery, default=Delivery.DIRECT)
    # The longest time for which a link to a code works. 0: as long as the code.
    link_minutes = models.PositiveIntegerField(default=0)
    # True if the first use of a guest's code checks the guest in automatically.
    arrives_by_history = models.BooleanField(default=True)
    slip_paper = models.CharField(
        max_length=10, choices=SlipPaper, default=SlipPaper.ROLL_80, db_default=SlipPaper.ROLL_80
    )
    # When the tenant's old visits were last erased (portal/today/erasing.py).
    erased_through = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant"], name="visits_settings_once")]


class Visit(TenantModel):
    """One guest's visit. The service deletes its guest a week after the end; this row remains.

    It was issued here (`intent` requested it) or copied from the service's list (`intent` and `by` are None).
    `guest_id` is None until the service has returned it. `party` is shared by the guests of one form, also by a single
    one; it is None for visits that are known only from the service. `host_member_id` is set if the host is a member.
    """

    stage = models.CharField(max_length=10, choices=Stage, default=Stage.REQUESTED)
    guest_id = models.TextField(db_collation="C", null=True)  # noqa: DJ001  (None: there is none yet)
    guest_name = models.TextField()
    name_key = models.TextField(db_collation="C")
    use_date_start = models.DateTimeField()
    use_date_end = models.DateTimeField()
    # The portal created no code: the service sent one by e-mail.
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

    # Presence: the portal's own record. Suggestions from the activity log are stored separately until someone accepts
    # them. `arrives`: checked in as soon as there is a code.
    arrives = models.BooleanField(default=False, db_default=False)
    arrived_at = models.DateTimeField(null=True)
    arrived_by = models.CharField(max_length=10, choices=By, blank=True, default="")
    left_at = models.DateTimeField(null=True)
    left_by = models.CharField(max_length=10, choices=By, blank=True, default="")
    suggested_arrival_at = models.DateTimeField(null=True)
    suggested_leave_at = models.DateTimeField(null=True)
    # The first and the newest use of the code, with the doors' names from the activity log.
    first_use_place = models.TextField(blank=True, default="", db_default="")
    last_use_at = models.DateTimeField(null=True)
    last_use_place = models.TextField(blank=True, default="", db_default="")

    # The code must not work after `must_end_at`. `ended_confirmed_at`: when data from the service confirmed that.
    # `cut_due_at` is when portal/guests/deactivation.py continues; `cut_intent` is the newest request.
    must_end_at = models.DateTimeField(null=True)
    ended_confirmed_at = models.DateTimeField(null=True)
    cut_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    cut_session = models.ForeignKey(SupportSession, null=True, on_delete=models.PROTECT, related_name="+")
    cut_intent = models.ForeignKey(Intent, null=True, on_delete=models.PROTECT, related_name="+")
    cut_due_at = models.DateTimeField(null=True)
    cut_attempts = models.PositiveIntegerField(default=0)
    # The method that is tried now to end the code (portal/guests/deactivation_methods.py). After the last one, only a
    # person can help.
    cut_way = models.PositiveSmallIntegerField(default=0, db_default=0)
    # A change to a later end, requested by a person who knew of the deactivation. The deactivation is active until the
    # service accepts the change.
    revive_intent = models.ForeignKey(Intent, null=True, on_delete=models.PROTECT, related_name="+")

    # The service no longer has this guest: the code opens nothing any more.
    gone_at = models.DateTimeField(null=True)
    # Name, company and host were blanked.
    erased_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "guest_id"], name="visits_one_visit_per_guest"),
            models.CheckConstraint(
                condition=~Q(stage=Stage.ISSUED) | Q(guest_id__isnull=False), name="visits_issued_is_named"
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "use_date_end", "id"], name="visits_by_end"),
            models.Index(fields=["tenant", "use_date_start", "id"], name="visits_by_start"),
            models.Index(fields=["tenant", "name_key", "use_date_end"], name="visits_by_name"),
            models.Index(fields=["tenant", "host_member_id", "use_date_end"], name="visits_by_host"),
            models.Index(fields=["tenant", "party"], name="visits_by_party", condition=Q(party__isnull=False)),
            models.Index(
                fields=["tenant", "arrived_at"],
                name="visits_here_now",
                condition=Q(arrived_at__isnull=False, left_at__isnull=True),
            ),
            models.Index(fields=["cut_due_at"], name="visits_cut_due", condition=Q(cut_due_at__isnull=False)),
            models.Index(
                fields=["tenant", "must_end_at"],
                name="visits_unconfirmed_cuts",
                condition=Q(must_end_at__isnull=False, ended_confirmed_at__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return self.guest_name or str(_("Deleted"))

    @property
    def is_cut(self) -> bool:
        """Return True if this code was deactivated early and has no later end since."""
        if self.must_end_at is None:
            return False
        return self.ended_confirmed_at is None or self.use_date_end <= self.must_end_at

    @property
    def may_still_open(self) -> bool:
        """Return True if the code was deactivated but the service has not confirmed it: it may still open doors."""
        open_end = self.ended_confirmed_at is None and self.gone_at is None
        return self.is_cut and open_end and self.stage != Stage.NOT_ISSUED

    @property
    def is_disarmed(self) -> bool:
        """Return True if a code without areas and keys replaced it, because the service refused an earlier end."""
        confirmed = self.ended_confirmed_at
        return self.is_cut and confirmed is not None and self.must_end_at is not None and self.must_end_at > confirmed

    @property
    def deactivated_since(self) -> datetime | None:
        """Return the moment since which a deactivated code opens nothing; None if it was not deactivated."""
        if not self.is_cut:
            return None
        return min(at for at in (self.use_date_end, self.must_end_at, self.ended_confirmed_at) if at is not None)

    @property
    def is_being_reactivated(self) -> bool:
        """Return True if a later end was requested and its result is unknown: no deactivation until then."""
        intent = self.revive_intent
        if not self.is_cut or intent is None:
            return False
        return intent.state in UNDER_WAY or (intent.state == State.UNCERTAIN and intent.due_at is not None)


class DeskAction(TenantModel):
    """One press at the desk that recorded arrivals or departures, stored so that it can be undone.

    `changes` is [visit, before, after] for each visit; both are the four columns of presence, as JSON.
    """

    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(db_default=Now())
    changes = models.JSONField(default=list)
    undone_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["tenant", "by", "-id"], name="visits_actions_of_person")]


class CodeLink(TenantModel):
    """A web address that shows a guest's own code, and nothing else. Only a digest of its secret is stored."""

    visit = models.ForeignKey(Visit, on_delete=models.CASCADE, related_name="links")
    digest = models.BinaryField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)
    opened = models.PositiveIntegerField(default=0)
    opened_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["digest"], name="visits_one_link_per_secret")]
        indexes = [models.Index(fields=["visit", "-id"], name="visits_links_of_visit")]
