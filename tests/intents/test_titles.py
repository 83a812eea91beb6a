"""A request's title is stored as a code with its values, and is shown in each reader's language."""

import pytest
from django.db import transaction
from django.utils import translation

from portal.domain.intents.actions import erase, submit
from portal.domain.intents.models import Intent, State
from portal.domain.intents.recording import Command
from tenants import audit
from tenants.models import AuditEntry, User
from tenants.roles import Permission
from tenants.scope import tenant_scope
from tenants.sentences import Sentence, coded_sentence
from tests.support.places import fresh_nonce

pytestmark = pytest.mark.django_db
PART = coded_sentence(
    "job.part", job=coded_sentence("job.suspend", n=1500), what=coded_sentence("job.changes", n=1), part=2
)
SENTENCES = [
    ("en", PART, "Suspend 1,500 members: change 1 member (request 2)"),
    ("ja", PART, "会員1,500名の停止：会員1名の変更（リクエスト2）"),
    ("en", coded_sentence("member.rights", name="試験 太郎"), "Change rights: 試験 太郎"),
    ("ja", coded_sentence("member.rights", name="試験 太郎"), "権限の変更：試験 太郎"),
    ("ja", coded_sentence("guest.issue", guest="佐々木 健太郎"), "ゲストコードの発行：佐々木 健太郎"),
    ("ja", coded_sentence("door.unlock", door="倉庫 入口"), "解錠：倉庫 入口"),
]


@pytest.mark.parametrize(("language", "said", "sentence"), SENTENCES)
def test_a_sentence_is_worded_when_it_is_read(language, said, sentence):
    with translation.override(language):
        assert str(said) == sentence


@pytest.mark.parametrize(
    ("asked_in", "read_in", "sentence"),
    [("en", "ja", "グループの作成：経理部"), ("ja", "en", "Create group 経理部")],
)
def test_whoever_reads_it_reads_their_own_language(place, asked_in, read_in, sentence):
    with tenant_scope(place.tenant), translation.override(asked_in):
        intent = _asked(place, coded_sentence("group.create", name="経理部"))
        assert AuditEntry.objects.filter(intent_id=str(intent.pk)).exists()
    User.objects.filter(pk=place.owner.pk).update(language=read_in)
    client, slug = place.client(), place.tenant.slug
    for page in (f"/t/{slug}/intents/{intent.pk}/outcome/", f"/t/{slug}/audit/"):
        assert sentence in client.get(page).content.decode(), page


def test_an_old_sentence_stays_as_it_was_and_an_unknown_code_stands_in_code_type(place):
    with tenant_scope(place.tenant):
        old, unknown = _asked(place, "権限を変更する"), _asked(place, Sentence("of.another_version", {"name": "X"}))
    client, url = place.client(), f"/t/{place.tenant.slug}/intents"
    assert "権限を変更する" in client.get(f"{url}/{old.pk}/outcome/").content.decode()
    assert "<code>of.another_version</code>" in client.get(f"{url}/{unknown.pk}/outcome/").content.decode()


def test_what_somebody_typed_is_never_taken_for_a_code(place):
    with tenant_scope(place.tenant):
        intent = _asked(place, '\x1f["door.unlock", {}]')
        assert Intent.objects.get(pk=intent.pk).title == '["door.unlock", {}]'


def test_the_trail_never_hears_a_guests_name_and_the_title_forgets_it(place):
    with tenant_scope(place.tenant):
        intent = _asked(place, coded_sentence("guest.issue", guest="佐々木 健太郎"))
        assert str(Intent.objects.get(pk=intent.pk).title) == "Issue a code: 佐々木 健太郎"
        entry = AuditEntry.objects.filter(intent_id=str(intent.pk)).latest("pk")
        assert entry.summary == Sentence("guest.issue")
        Intent.objects.filter(pk=intent.pk).update(state=State.SUCCEEDED, due_at=None)
        assert erase(Intent.objects.filter(pk=intent.pk)) == 1
        assert Intent.objects.get(pk=intent.pk).title == Sentence("guest.issue")


@pytest.mark.parametrize(
    ("language", "sentence"), [("en", "Badge opened for a guest"), ("ja", "ゲストバッジの表示：ゲスト")]
)
def test_an_act_that_kept_no_sentence_is_worded_by_its_code(place, language, sentence):
    with tenant_scope(place.tenant), transaction.atomic():
        audit.record(tenant=place.tenant, by=place.owner, action="guest.badge_opened", target="guest:G1")
        audit.record(tenant=place.tenant, by=place.owner, action="guest.of_another_version", target="guest:G1")
    User.objects.filter(pk=place.owner.pk).update(language=language)
    page = place.client().get(f"/t/{place.tenant.slug}/audit/").content.decode()
    assert f'<td class="p-title wrap">{sentence}</td>' in page
    assert '<td class="p-title wrap"><code>guest.of_another_version</code></td>' in page


@pytest.mark.parametrize(
    ("language", "rows"),
    [
        (
            "en",
            {"Member": "Not found", "Lock": "01 Locked, 02 <code>ajar</code>", "Possible matches": "<code>g1</code>"},
        ),
        ("ja", {"会員": "見つかりません", "錠": "01 施錠中、02 <code>ajar</code>", "候補": "<code>g1</code>"}),
    ],
)
def test_what_was_read_about_a_request_is_worded(place, language, rows):
    evidence = {"read": "2026-11-21T09:41:00+09:00", "member": "not there", "lock": "01 lock, 02 ajar", "may be": "g1"}
    with tenant_scope(place.tenant):
        intent = _asked(place, coded_sentence("group.create", name="経理部"))
        evidence |= {"differs": "membergroup_name, of_another_version"}
        Intent.objects.filter(pk=intent.pk).update(state=State.UNCERTAIN, due_at=None, result={"evidence": evidence})
    User.objects.filter(pk=place.owner.pk).update(language=language)
    page = place.client().get(f"/t/{place.tenant.slug}/intents/{intent.pk}/outcome/").content.decode()
    for label, value in rows.items():
        assert f"<dt>{label}</dt><dd>{value}</dd>" in page
    assert "2026-11-21 09:41:00</time>" in page
    assert "<code>of_another_version</code>" in page


def _asked(place, title):
    return submit(
        Command(
            permission=Permission.GROUPS_EDIT,
            operation="create_membergroup",
            title=title,
            body={"membergroup_name": "X"},
        ),
        by=place.asker,
        nonce=fresh_nonce(),
        inline=False,
    )
