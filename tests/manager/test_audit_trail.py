"""The audit log: one row for one action, with names that the reader may see, in the reader's language."""

import html
import re

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from portal.domain.cameras.models import Camera
from portal.domain.intents.actions import submit
from portal.domain.intents.models import Intent, Reason, State
from portal.domain.intents.recording import Command
from portal.domain.intents.tracking import resolve
from portal.domain.intents.transitions import Transition, apply_transition
from portal.domain.jobs import actions
from portal.domain.jobs.models import Job
from portal.domain.people.models import Member
from portal.domain.visits.models import Visit
from tenants import audit
from tenants.models import AuditEntry, SupportSession, User
from tenants.roles import Permission
from tenants.scope import tenant_scope
from tenants.sentences import coded_sentence
from tests.support.members import said
from tests.support.places import fresh_nonce
from tests.support.query_plans import rows_read

NAME = "佐々木 健太郎"


class Trail:
    """What an owner of a place reads, in the owner's language."""

    def __init__(self, place):
        self.place, self.client = place, place.client()
        self.home = f"/t/{place.tenant.slug}/"
        self.url = f"{self.home}audit/"

    def speaks(self, language):
        User.objects.filter(pk=self.place.owner.pk).update(language=language)

    def rows(self, **query):
        """Return (sentence, result) of each row."""
        page = self.client.get(self.url, query).content.decode()
        cells = r'<td class="p-title wrap">(.*?)</td>\s*<td[^>]*>(.*?)</td>'
        found = re.findall(cells, page, re.DOTALL)
        return [(" ".join(sentence.split()), " ".join(result.split())) for sentence, result in found]

    def sentences(self, **query):
        return [sentence for sentence, _result in self.rows(**query)]

    def record(self, action, target="", after=None):
        with tenant_scope(self.place.tenant), transaction.atomic():
            entry = {"action": action, "target": target, "after": after, "summary": coded_sentence(action)}
            return audit.record(tenant=self.place.tenant, by=self.place.owner, **entry)

    def visit(self, name=NAME, **values):
        now = timezone.now()
        hours = {"use_date_start": now, "use_date_end": now + timezone.timedelta(hours=1)}
        with tenant_scope(self.place.tenant):
            return Visit.objects.create(guest_name=name, name_key=name, **hours, **values)

    def asked(self, title=None, state=None, **values):
        """Create an intent with this state."""
        with tenant_scope(self.place.tenant):
            intent = submit(
                Command(
                    permission=Permission.MEMBERS_EDIT,
                    operation="create_member",
                    title=title or coded_sentence("member.create", name="山田"),
                    **values,
                ),
                by=self.place.asker,
                nonce=fresh_nonce(),
                inline=False,
            )
            if state is not None:
                Intent.objects.filter(pk=intent.pk).update(state=State.SENDING)
                apply_transition(
                    {"pk": intent.pk}, Transition(state, Reason.LOST if state == State.UNCERTAIN else Reason.NONE)
                )
            return Intent.objects.get(pk=intent.pk)

    def grow(self, requests):
        """Record that another person created so many members, one each second of the past."""
        user = User.objects.create_user("frequent@example.test", "correct horse battery staple")
        with tenant_scope(self.place.tenant), connection.cursor() as cursor:
            cursor.execute(GROWN, {"tenant": self.place.tenant.pk, "by": user.pk, "count": requests})

    def looks_at(self, **query):
        """Return (sentences, number of entries that PostgreSQL reads for them)."""
        with rows_read("tenants_auditentry", unless=BY_KEYS) as counted:
            found = self.sentences(**query)
        return found, sum(counted)


BY_KEYS = ('"tenants_auditentry"."id" IN (', '"tenants_auditentry"."intent_id" IN (')
GROWN = """
INSERT INTO tenants_auditentry (tenant_id, at, by_id, by_label, action, target, summary, intent_id)
SELECT %(tenant)s, now() - (%(count)s - n + 1) * interval '1 second', %(by)s, 'frequent',
    'create_member' || outcome.of, CASE WHEN outcome.of = '' THEN '' ELSE 'member:F' || n END, '', 'x' || n
FROM generate_series(1, %(count)s) n CROSS JOIN (VALUES (''), ('.succeeded')) AS outcome (of) ORDER BY n, outcome.of
"""


@pytest.fixture
def trail(place):
    return Trail(place)


def test_two_people_read_the_same_trail_each_in_their_language_with_names(trail):
    visit = trail.visit(guest_id="G1")
    trail.record("guest.badge_opened", "guest:G1")
    trail.record("guest.arrived", f"visit:{visit.pk}")
    read = {}
    for language in ("en", "ja"):
        trail.speaks(language)
        read[language] = trail.sentences()
        home = trail.client.get(f"{trail.home}recent-changes/").content.decode()
        assert all(sentence in home for sentence in read[language])
    assert read["en"] == [f"Checked in: {NAME}", f"Badge opened for {NAME}"]
    assert read["ja"] == [f"到着：{NAME}", f"ゲストバッジの表示：{NAME}"]


def test_a_guest_who_is_forgotten_has_no_name_in_the_trail_any_more(trail):
    visit = trail.visit(guest_id="G1")
    entry = trail.record("guest.code_shown", "guest:G1")
    assert f"Code shown for {NAME}" in trail.client.get(f"{trail.url}{entry.pk}/").content.decode()
    with tenant_scope(trail.place.tenant):
        Visit.objects.filter(pk=visit.pk).update(guest_name="")
        assert NAME not in str(AuditEntry.objects.values_list("summary", "after", "target"))
    assert trail.sentences() == ["Code shown for a guest"]


def test_of_a_party_two_are_named_and_the_others_counted(trail):
    party = "a3c1b7de-0b1c-4f43-9d3a-6f2f0f5c9b11"
    visits = [trail.visit(name, party=party) for name in ("一郎", "二郎", "三郎", "四郎")]
    trail.record("guest.arrived", f"party:{party}", {"visits": [visit.pk for visit in visits[:3]]})
    assert trail.sentences() == ["Checked in: 一郎, 二郎 and 1 other"]


def test_what_became_of_a_request_stands_in_its_row_and_on_its_page(trail):
    intent = trail.asked(state=State.SUCCEEDED)
    assert trail.rows() == [("Create member: 山田", "Done")]
    assert trail.client.get(f"{trail.home}recent-changes/").content.decode().count("Create member: 山田") == 1
    with tenant_scope(trail.place.tenant):
        asked, ended = AuditEntry.objects.filter(intent_id=str(intent.pk)).order_by("pk")
    page = said(trail.client.get(f"{trail.url}{asked.pk}/"))
    at = f"{timezone.localtime(ended.at):%H:%M:%S}"
    assert re.search(rf"Also recorded for this request .*{at}.* Done", page)


def test_what_a_person_decides_is_an_act_of_its_own(trail):
    intent = trail.asked(state=State.UNCERTAIN)
    with tenant_scope(trail.place.tenant):
        assert resolve(intent, applied=False, by=trail.place.asker)
    assert trail.rows() == [
        ("Recorded as not applied: Create member: 山田", "–"),
        ("Create member: 山田", "Refused"),
    ]


def test_filters_find_acts_by_what_became_of_them_and_pages_hold_fifty_acts(trail):
    for _ in range(51):
        trail.asked(state=State.SUCCEEDED)
    trail.asked(title=coded_sentence("member.create", name="拒否"), state=State.FAILED)
    assert trail.rows(result="failed") == [("Create member: 拒否", "Refused")]
    assert trail.rows(result="uncertain") == trail.rows(about="groups") == []
    assert len(trail.rows(about="members", result="succeeded")) == 50
    page = trail.client.get(trail.url).content.decode()
    assert len(trail.sentences()) == 50
    following = re.search(r'href="\?(after=[^"]+)"', page)[1]
    rest = trail.client.get(f"{trail.url}?{following}").content.decode()
    assert rest.count("Create member: 山田") == 2


def test_the_portal_is_found_as_the_reader_reads_it(trail):
    visit = trail.visit()
    with tenant_scope(trail.place.tenant), transaction.atomic():
        entry = {"by_label": "histories", "action": "guest.arrived", "target": f"visit:{visit.pk}"}
        audit.record(tenant=trail.place.tenant, by=None, summary=coded_sentence("guest.arrived_by_code"), **entry)
    trail.speaks("ja")
    assert trail.sentences(person="ポータル") == [f"コードの使用による到着：{NAME}"]
    assert trail.sentences(person="だれか") == []


def test_everything_about_somebody_begins_with_how_they_came_to_be(trail):
    intent = trail.asked()
    with tenant_scope(trail.place.tenant):
        Intent.objects.filter(pk=intent.pk).update(state=State.SENDING, target="member:M1")
        apply_transition({"pk": intent.pk}, Transition(State.SUCCEEDED))
    for typed in ("member:M1", "Member M1", "member M", "Member"):
        assert trail.rows(target=typed) == [("Create member: 山田", "Done")], typed
    assert trail.rows(target="Member M2") == trail.rows(target="Guest M1") == []


def test_a_party_is_found_by_the_word_that_it_shares_with_all_guests(trail):
    party = "party:a3c1b7de-0b1c-4f43-9d3a-6f2f0f5c9b11"
    trail.record("guests.closed", "guests")
    trail.record("guest.arrived", party)
    assert len(trail.rows(target="Guests")) == 2
    assert len(trail.rows(target=party.replace("party:", "Guests "))) == 1


def test_a_page_costs_the_same_however_many_guests_and_outcomes_it_shows(trail):
    counted = []
    for number in (1, 20):
        for n in range(number):
            trail.visit(guest_id=f"G{number}-{n}")
            trail.record("guest.badge_opened", f"guest:G{number}-{n}")
            trail.asked(state=State.SUCCEEDED)
        trail.client.get(trail.url)
        with CaptureQueriesContext(connection) as asked:
            trail.client.get(trail.url)
        counted.append(len(asked))
    assert counted[0] == counted[1]


def test_a_long_job_is_titled_in_the_language_of_whoever_reads_it(trail):
    with tenant_scope(trail.place.tenant):
        rows = []
        for n in range(2):
            Member.objects.create(member_id=f"m{n}", member_name=f"会員{n}")
            rows.append((f"m{n}", {"use_date_end": "2031-01-01T00:00:00+09:00"}, {}))
        actions.prepare(kind="suspend", by=trail.place.asker, rows=rows)
        actions.prepare(kind="suspend", by=trail.place.asker, rows=rows, title="昔の題名")
        assert Job.objects.latest("pk").title == "昔の題名"  # as it was stored before
    assert trail.sentences()[0] == "Bulk change prepared: Suspend 2 members"
    trail.speaks("ja")
    assert trail.sentences()[0] == "一括変更の準備：会員2名の停止"


class TestALongTrail:
    """Rare entries are older than thousands of others."""

    REQUESTS = 4_000
    #: The number of entries read for a page of each kind; a filter that reads all would read twice as many as exist.
    MOST = 1_000

    @pytest.fixture
    def long(self, trail):
        uncertain = trail.asked(title=coded_sentence("member.create", name="不明"), state=State.UNCERTAIN)
        trail.record("group.merged", "group:G1")
        with tenant_scope(trail.place.tenant), transaction.atomic():
            helper = User.objects.create_user("helper@example.test", "correct horse battery staple")
            session = SupportSession.objects.create(
                user=helper, reason="x", expires_at=timezone.now() + timezone.timedelta(hours=1)
            )
            audit.record(
                tenant=trail.place.tenant, by=helper, action="area.renamed", target="area:A1", support_session=session
            )
        trail.grow(self.REQUESTS)
        assert uncertain.pk
        return trail

    @pytest.mark.parametrize(
        ("query", "found"),
        [
            ({"result": "uncertain"}, 1),
            ({"result": "failed"}, 0),
            ({"about": "groups"}, 1),
            ({"about": "members", "result": "uncertain"}, 1),
            ({"person": "helper@"}, 1),
            ({"person": "nobody"}, 0),
            ({"person": "helper@", "about": "members"}, 0),
            ({"support_only": "on"}, 1),
            ({"target": "Area"}, 1),
            ({"target": "Member", "result": "succeeded"}, 50),
            ({"target": "Member"}, 50),
            ({"result": "succeeded"}, 50),
            ({"about": "groups", "until": "2001-01-01"}, 0),
        ],
        ids=str,
    )
    def test_a_filter_looks_at_few_entries(self, long, query, found):
        sentences, looked_at = long.looks_at(**query)
        assert len(sentences) == found
        assert looked_at < self.MOST

    @pytest.mark.parametrize("target", ["Member F17", "member:F17"])
    def test_a_target_that_is_not_near_is_gathered_by_its_code(self, long, target):
        sentences, looked_at = long.looks_at(target=target, until=f"{timezone.localdate():%Y-%m-%d}")
        assert len(sentences) == 50  # F17, F170 … F179, and those of F1700
        assert looked_at < 3 * self.REQUESTS


class TestATargetIsShownInWords:
    """A target is its kind with its name now, or with its number; never the stored code."""

    def targets(self, trail, **query):
        page = trail.client.get(trail.url, query).content.decode()
        return [html.unescape(each) for each in re.findall(r'data-label="[^"]*">([^<]*)</td>\s*</tr>', page)]

    def test_with_its_name_or_its_number_in_the_readers_language(self, trail):
        with tenant_scope(trail.place.tenant):
            Camera.objects.create(camera_id="c003d9fb36", name="Loading dock")
        for target in ("camera:c003d9fb36", "camera:c9", "incident:1", "cameras", "log:search 5", "visit:" + "a" * 36):
            trail.record("camera.wall", target)
        shown = ["Visit", "Activity log", "All cameras", "Incident 1", "Camera c9", "Camera “Loading dock”"]
        assert self.targets(trail)[:6] == shown
        trail.speaks("ja")
        shown = ["来訪", "履歴", "すべてのカメラ", "インシデント1", "カメラc9", "カメラ「Loading dock」"]
        assert self.targets(trail)[:6] == shown

    def test_and_is_found_by_its_name(self, trail):
        with tenant_scope(trail.place.tenant):
            Camera.objects.create(camera_id="c003d9fb36", name="Loading dock")
        trail.record("camera.wall", "camera:c003d9fb36")
        trail.record("camera.wall", "camera:c4")
        for typed in ("Camera “Loading dock”", "loading", "camera:c003"):
            assert self.targets(trail, target=typed) == ["Camera “Loading dock”"], typed
