"""Safety rules as tests change them: each form that could loosen one, with values that loosen and tighten it."""

from django.urls import reverse

from portal.domain.alerts.models import Rule
from portal.domain.cameras.models import CameraSettings
from portal.domain.notifications.models import AlertRecipients, WebAddress
from portal.domain.safety.rules import RULES
from portal.domain.visits.models import DeskSettings
from portal.evidence.models import EvidenceSettings
from portal.lockdown.models import LockdownSetting
from tenants.scope import tenant_scope
from tests.support.members import said

OFFLINE = {"is_on": "on", "severity": "2", "minutes": "15", "quiet": "15"}


class Setting:
    """A stored setting, the form values that loosen and tighten it, and how to read it."""

    def __init__(self, rule, name, args=(), *, make, loosen, tighten=None):
        self.rule, self.name, self.args, self.make = rule, name, args, make
        self.loosened, self.tightened = loosen, tighten

    def post(self, client, place, fields):
        args = self.args
        if args == "address":
            args = [WebAddress.objects.get().pk]
        elif args == "added rule":
            args = ["offline", Rule.objects.get(is_added=True).pk]
        return client.post(reverse(self.name, args=[place.tenant.slug, *args]), fields, follow=True)

    def loosen(self, client, place):
        with tenant_scope(place.tenant):
            return said(self.post(client, place, self.loosened))

    def tighten(self, client, place):
        with tenant_scope(place.tenant):
            return said(self.post(client, place, self.tightened))

    def kept(self, place):
        with tenant_scope(place.tenant):
            return RULES[self.rule].read(self.subject(place))

    def subject(self, place):
        if not isinstance(self.args, str):
            return self.args[0] if self.args else ""
        with tenant_scope(place.tenant):
            if self.args == "address":
                return str(getattr(WebAddress.objects.first(), "pk", 0))
            return f"offline:{getattr(Rule.objects.first(), 'pk', 0)}"


def lockdown(**values):
    return lambda: LockdownSetting.objects.create(**values)


def rule(kind, **values):
    hours = {"days": [0, 1], "begin": "22:00", "end": "06:00"}
    kept = {"is_on": True, "severity": 2, "values": {}, "hours": {}} | values
    return lambda: Rule.objects.create(kind=kind, **kept | ({"hours": hours} if kept["hours"] is True else {}))


def audience(**values):
    return lambda: AlertRecipients.objects.create(kind="forced", **values)


def address():
    return WebAddress.objects.create(name="Chat", url="https://example.test/", secret="s", language="en", least=3)


def desk(days):
    kept = {"delivery": "direct", "link_minutes": "0", "arrives_by_history": "on", "slip_paper": "80"}
    return {"keep_days": str(days)} | kept


HOURS = {"days": ["0", "1"], "begin": "22:00", "end": "06:00"}
NO_SECOND = Setting("lockdown", "lockdown:save_settings", make=lockdown(second="both"), loosen={"second": ""})
SETTINGS = {
    "no second person": NO_SECOND,
    "a second person for evacuations alone": Setting(
        "lockdown", "lockdown:save_settings", make=lockdown(second="both"), loosen={"second": "evacuation"}
    ),
    "evacuation switched on": Setting(
        "lockdown", "lockdown:save_settings", make=lockdown(), tighten={"second": "both"},
        loosen={"second": "", "evacuation": "on"},
    ),
    "one door more to be unlocked": Setting(
        "lockdown", "lockdown:save_settings", make=lambda: LockdownSetting.objects.create(evacuation=True),
        loosen={"second": "", "evacuation": "on", "door": "every"}, tighten={"second": ""},
    ),
    "evidence deleted sooner": Setting(
        "evidence_retention", "evidence:settings", make=lambda: EvidenceSettings.objects.create(days=100),
        loosen={"days": "99"}, tighten={"days": "101"},
    ),
    "guests remembered for longer": Setting(
        "guest_retention", "guests:settings", make=DeskSettings.objects.create, loosen=desk(91),
        tighten=desk(90) | {"link_minutes": "5"},
    ),
    "guests forgotten sooner": Setting(
        "guest_retention", "guests:settings", make=DeskSettings.objects.create, loosen=desk(8)
    ),
    "no pictures of door commands": Setting(
        "command_pictures", "cameras:settings", loosen={},
        make=lambda: CameraSettings.objects.create(pictures_of_commands=True),
    ),
    "an alert rule switched off": Setting(
        "alert_rule", "alerts:rule", ["offline"], make=rule("offline"), loosen=OFFLINE | {"is_on": ""},
        tighten=OFFLINE | {"severity": "3"},
    ),
    "an alert that is less serious": Setting(
        "alert_rule", "alerts:rule", ["offline"], make=rule("offline"), loosen=OFFLINE | {"severity": "1"}
    ),
    "an alert that comes later": Setting(
        "alert_rule", "alerts:rule", ["offline"], make=rule("offline"), loosen=OFFLINE | {"minutes": "16"},
        tighten=OFFLINE | {"minutes": "14"},
    ),
    "a repeat that raises no new alert": Setting(
        "alert_rule", "alerts:rule", ["offline"], make=rule("offline"), loosen=OFFLINE | {"quiet": "16"}
    ),
    "an alert with hours in which it is quiet": Setting(
        "alert_rule", "alerts:rule", ["offline"], make=rule("offline"), loosen=OFFLINE | HOURS
    ),
    "an alert at fewer hours": Setting(
        "alert_rule", "alerts:rule", ["offline"], make=rule("offline", hours=True),
        loosen=OFFLINE | HOURS | {"end": "05:59"}, tighten=OFFLINE | HOURS | {"end": "06:01"},
    ),
    "more refusals before an alert": Setting(
        "alert_rule", "alerts:rule", ["refused"], make=rule("refused"),
        loosen={"is_on": "on", "severity": "2", "count": "6", "minutes": "10", "quiet": "15"},
        tighten={"is_on": "on", "severity": "2", "count": "5", "minutes": "11", "quiet": "15"},
    ),
    "refusals within a shorter time": Setting(
        "alert_rule", "alerts:rule", ["refused"], make=rule("refused"),
        loosen={"is_on": "on", "severity": "2", "count": "5", "minutes": "9", "quiet": "15"},
    ),
    "fewer API calls left before an alert": Setting(
        "alert_rule", "alerts:rule", ["budget"], make=rule("budget", severity=1),
        loosen={"is_on": "on", "severity": "1", "percent": "9", "quiet": "15"},
        tighten={"is_on": "on", "severity": "1", "percent": "11", "quiet": "15"},
    ),
    "fewer days before evidence goes": Setting(
        "alert_rule", "alerts:rule", ["evidence"], make=rule("evidence"),
        loosen={"is_on": "on", "severity": "2", "left": "13", "quiet": "15"},
    ),
    "an alert at fewer doors": Setting(
        "alert_rule", "alerts:rule", ["offline"], make=rule("offline", doors=["D1", "D2"]),
        loosen=OFFLINE | {"doors": ["D1"]}, tighten=OFFLINE | {"doors": ["D1", "D2"], "severity": "3"},
    ),
    "an alert no longer everywhere": Setting(
        "alert_rule", "alerts:rule", ["offline"], make=rule("offline", doors=["D1"], is_on=True),
        loosen=OFFLINE | {"doors": ["D1"], "severity": "1"}, tighten=OFFLINE,
    ),
    "an added alert rule that is less serious": Setting(
        "alert_rule", "alerts:added_rule", "added rule", make=rule("offline", is_added=True),
        loosen=OFFLINE | {"severity": "1"}, tighten=OFFLINE | {"severity": "3"},
    ),
    "an added alert rule removed": Setting(
        "alert_rule", "alerts:remove_rule", "added rule", make=rule("offline", is_added=True), loosen={}
    ),
    "one role alone is told": Setting(
        "alert_recipients", "alerts:recipients", ["forced"], make=lambda: None, loosen={"roles": ["guard"]}
    ),
    "one role less is told": Setting(
        "alert_recipients", "alerts:recipients", ["forced"], make=audience(roles=["guard", "owner"]),
        loosen={"roles": ["guard"]}, tighten={"roles": ["guard", "owner", "auditor"]},
    ),
    "a web address removed": Setting("alert_address", "alerts:address_remove", "address", make=address, loosen={}),
}  # fmt: skip
