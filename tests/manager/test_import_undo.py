"""A manager undoes an import: created members are deleted, changed ones restored, and later changes stay."""

from datetime import timedelta

import pytest
from django.utils import timezone

from portal.domain.intents.models import Intent
from portal.domain.intents.sending import send
from portal.domain.jobs import actions as job_actions
from portal.domain.jobs import tasks
from portal.domain.jobs.models import Job, JobState, Part, PartState, Row, RowState
from portal.domain.people.models import Member
from portal.domain.sync import local_writes
from tenants.models import AuditEntry, SupportSession, User
from tests.imports.test_running import lose_the_answer, readings
from tests.manager.test_imports import HEADINGS, checked, desk, group_of, inside, job_at, lines, manager, run, url
from tests.support.fixtures import make, place, sandbox
from tests.support.members import said
from tests.support.places import age_proof, signed_in

__all__ = ["desk", "make", "manager", "place", "sandbox", "url"]


def known(desk, count):
    """Return members with a code, as they are before the import."""
    with inside(desk):
        return list(Member.objects.exclude(member_code="").order_by("pk")[:count])


def imported(desk, manager, url, *rows, headings=HEADINGS):
    there = checked(desk, manager, url, lines(headings, *rows))
    manager.post(f"{there}start/")
    assert run(desk, there).state == JobState.DONE
    return there


def new(desk, count, card=""):
    group = group_of(desk)
    return [[f"新人{n}", f"NEW{n}", group, card and f"{card}{n}"] for n in range(count)]


def prepared(manager, there):
    """Prepare the undo. Return its address."""
    answer = manager.post(f"{there}undo/")
    assert "/changes/" in answer["Location"], answer["Location"]
    return answer["Location"]


def undone(desk, manager, undo, **typed):
    answer = manager.post(f"{undo}start/", {"typed": "delete", **typed}, follow=True)
    assert answer.status_code == 200, said(answer)
    run(desk, undo)
    return said(manager.get(undo))


def at_service(desk):
    """Return the service's members by code."""
    with inside(desk):
        return {each.get("member_code", ""): each for each in desk.members()}


def edit(desk, code, **fields):
    """Edit a member here, as another person would."""
    with inside(desk):
        member = Member.objects.get(member_code=code)
        local_writes.apply_member_write(desk.place.tenant, member.member_id, fields)


class TestAnImportThatNobodyTouched:
    def test_is_undone_completely_after_a_preview(self, desk, manager, url):
        first, second = known(desk, 2)
        card = "CARD00000000000A"
        there = imported(
            desk, manager, url, *new(desk, 3, card="NEWCARD00"),
            ["改名", first.member_code, "", ""], ["", second.member_code, "", card],
        )  # fmt: skip
        assert at_service(desk)[second.member_code]["card_data"] == card
        assert "Undo…" in said(manager.get(there))

        undo = prepared(manager, there)
        page = said(manager.get(undo))
        assert "Undo: Import staff.csv" in page
        assert "Will delete 3 Will change 2" in page
        assert "Undoes an import" in page
        assert "To permanently delete 3 members, type 3 or “delete”:" in page
        assert f"改名 → {first.member_name}" in page
        assert "All 5 Will delete 3 Will change 2" in page
        assert "新人0 NEW0 Delete" in page
        deleted = said(manager.get(undo, {"show": "delete"}))
        assert "新人0" in deleted
        assert "改名 →" not in deleted
        assert len(at_service(desk)) == len({*at_service(desk)} | {"NEW0", "NEW1", "NEW2"})
        assert "Nothing was sent" in said(manager.post(f"{undo}start/", {"typed": "5"}))

        page = undone(desk, manager, undo, typed="3")
        assert "Done 5" in page
        left = at_service(desk)
        assert not {"NEW0", "NEW1", "NEW2"} & left.keys()
        assert left[first.member_code]["member_name"] == first.member_name
        assert left[second.member_code].get("card_data") == second.card_data
        page = said(manager.get(there))
        assert "Undone" in page
        assert "by facility manager" in page
        assert "Undo…" not in page
        assert undo in manager.get(there).content.decode()
        with inside(desk):
            entry = AuditEntry.objects.get(action="import.undone")
        assert (entry.target, entry.by.name) == (f"import:{job_at(desk, there).pk}", "facility manager")
        assert "Nothing was undone: this cannot be undone, or was undone already. See the result below." in said(
            manager.post(f"{there}undo/", follow=True)
        )
        rows = new(desk, 3, card="NEWCARD00"), [["改名", first.member_code, "", ""], ["", second.member_code, "", card]]
        again = said(manager.get(checked(desk, manager, url, lines(HEADINGS, *rows[0], *rows[1]))))
        assert "already imported this file" not in again
        assert "Import 5 rows" in again

    def test_frees_a_card_that_was_passed_on_before_it_is_given_back(self, desk, manager, url):
        with inside(desk):
            giver, receiver = Member.objects.exclude(member_code="").order_by("-has_card", "pk")[:2]
        there = imported(
            desk, manager, url,
            ["", giver.member_code, "", "FRESH00000000001"], ["", receiver.member_code, "", giver.card_data],
        )  # fmt: skip
        assert at_service(desk)[receiver.member_code]["card_data"] == giver.card_data
        page = undone(desk, manager, prepared(manager, there))
        assert "Done 2" in page
        left = at_service(desk)
        for member in (giver, receiver):
            assert left[member.member_code].get("card_data", "") == (member.card_data or "")

    def test_frees_the_card_of_a_created_member_first(self, desk, manager, url):
        with inside(desk):
            giver = Member.objects.exclude(member_code="").filter(has_card=True).order_by("pk")[0]
        there = imported(
            desk, manager, url,
            ["", giver.member_code, "", "FRESH00000000001"], ["後任", "NEW9", group_of(desk), giver.card_data],
        )  # fmt: skip
        assert at_service(desk)["NEW9"]["card_data"] == giver.card_data
        assert "Done 2" in undone(desk, manager, prepared(manager, there))
        left = at_service(desk)
        assert "NEW9" not in left
        assert left[giver.member_code]["card_data"] == giver.card_data

    def test_is_undone_for_people_with_a_code_by_e_mail_and_clears_what_was_empty(self, desk, manager, url):
        empty = known(desk, 1)[0]
        there = imported(
            desk, manager, url,
            ["QR", "NEW1", group_of(desk), "", "qr@example.test", ""],
            ["", empty.member_code, "", "", "", "2030-01-31"],
            headings=["氏名", "社員番号", "グループ", "カード番号", "QR送付先", "利用終了日"],
        )  # fmt: skip
        with inside(desk):
            desk.sync()
        page = undone(desk, manager, prepared(manager, there))
        assert "Done 2" in page
        assert "NEW1" not in at_service(desk)
        assert at_service(desk)[empty.member_code].get("use_date_end") is None


class TestWhatChangedSince:
    def test_is_left_out_of_the_preview_with_the_reason(self, desk, manager, url):
        renamed, restored = known(desk, 2)
        there = imported(
            desk, manager, url, *new(desk, 6),
            ["改名", renamed.member_code, "", ""], ["改姓", restored.member_code, "", ""],
        )  # fmt: skip
        edit(desk, "NEW0", card_data="LATER00000000001")
        edit(desk, "NEW1", face_data=True)
        edit(desk, "NEW2", privilege={"keys_without_2fa": True, "restricted_keys_enabled": False})
        edit(desk, renamed.member_code, member_name="もう一度")
        edit(desk, restored.member_code, member_name=restored.member_name)
        with inside(desk):
            gone = Member.objects.get(member_code="NEW3").member_id
            local_writes.apply_member_deletion(desk.place.tenant, gone)
            Row.objects.filter(job=job_at(desk, there), line=6).update(state=RowState.UNCERTAIN)
        undo = prepared(manager, there)
        page = said(manager.get(undo))
        assert "Will delete 1 Skipped 7" in page
        assert "4 changed since the import. (" in page
        for name in ("新人0", "新人1", "新人2", "もう一度"):
            assert name in page.partition("changed since the import.")[2]
        assert "1 no longer exists." in page
        assert "1 already has the former values." in page
        assert "1 has an uncertain result in the import. (新人4)" in page
        undone(desk, manager, undo)
        left = at_service(desk)
        assert "NEW5" not in left
        assert {"NEW0", "NEW1", "NEW2", "NEW4"} <= left.keys()

    def test_between_preview_and_start_is_skipped_and_stays_so_when_it_is_retried(self, desk, manager, url):
        first = known(desk, 1)[0]
        there = imported(desk, manager, url, *new(desk, 2), ["改名", first.member_code, "", ""])
        undo = prepared(manager, there)
        edit(desk, "NEW0", member_name="結婚後")
        edit(desk, first.member_code, member_name="別名")
        page = undone(desk, manager, undo)
        assert page.count("Skipped: changed by someone else in the meantime.") == 2
        retry = manager.post(f"{undo}retry/")["Location"]
        page = undone(desk, manager, retry)
        assert page.count("Skipped: changed by someone else in the meantime.") == 2
        left = at_service(desk)
        assert ("NEW0" in left, "NEW1" in left) == (True, False)
        with inside(desk):
            assert Member.objects.get(member_code=first.member_code).member_name == "別名"

    def test_a_code_that_cannot_be_set_again_is_left_as_it_is(self, desk, manager, url):
        mailed, coded = known(desk, 2)
        edit(desk, mailed.member_code, qrcode={"email": "old@example.test"})
        edit(desk, coded.member_code, qrcode={"data": "OLDCODE1"})
        there = imported(
            desk, manager, url,
            ["", mailed.member_code, "NEWCODE1"], ["", coded.member_code, "NEWCODE2"],
            headings=["氏名", "社員番号", "QRデータ"],
        )  # fmt: skip
        undo = prepared(manager, there)
        page = said(manager.get(undo))
        assert "Will change 1 Skipped 1" in page
        assert f"1 had a value that cannot be set again, such as a one-time code. ({mailed.member_name})" in page
        undone(desk, manager, undo)
        with inside(desk):
            codes = [Member.objects.get(pk=member.pk).qrcode for member in (mailed, coded)]
        assert codes == [{"data": "NEWCODE1"}, {"data": "OLDCODE1"}]


class TestWorkersThatEnd:
    def test_between_two_requests_neither_lose_nor_double_a_deletion(self, desk, manager, url):
        there = imported(desk, manager, url, *new(desk, 5))
        undo = prepared(manager, there)
        manager.post(f"{undo}start/", {"typed": "5"})
        with inside(desk):
            job = Job.objects.get(pk=int(undo.rstrip("/").rsplit("/", 1)[1]))
            Job.objects.filter(pk=job.pk).update(part_rows=2)
            for _ in range(3):
                tasks.advance_job(job.pk)  # the same step by workers that were replaced
            assert Part.objects.get(job=job).rows == 2
            for intent in Intent.objects.filter(target=f"change:{job.pk}"):
                send(intent)
                send(intent)
            desk.run(job)
            assert [part.rows for part in Part.objects.filter(job=job).order_by("ordinal")] == [2, 2, 1]
            assert {row.state for row in desk.rows(job)} == {RowState.SUCCEEDED}
            assert desk.calls(15) == 3
        assert not any(code.startswith("NEW") for code in at_service(desk))

    def test_before_the_answer_of_a_deletion_was_recorded_find_the_result_by_reading(self, desk, manager, url):
        there = imported(desk, manager, url, *new(desk, 3))
        undo = prepared(manager, there)
        manager.post(f"{undo}start/", {"typed": "3"})
        with inside(desk):
            job = Job.objects.get(pk=int(undo.rstrip("/").rsplit("/", 1)[1]))
            tasks.advance_job(job.pk)
            body = Intent.objects.get(target=f"change:{job.pk}").body
            desk.place.sandbox.api("POST", "/v1/members/bulk/delete", body, token=desk.place.service.token)
            lose_the_answer(job)
            readings(desk, job, 1)
            desk.run(job)
            assert Part.objects.get(job=job).state == PartState.CLOSED
            assert {row.state for row in desk.rows(job)} == {RowState.SUCCEEDED}

    def test_a_stopped_undo_can_go_on(self, desk, manager, url):
        there = imported(desk, manager, url, *new(desk, 4))
        undo = prepared(manager, there)
        manager.post(f"{undo}start/", {"typed": "4"})
        with inside(desk):
            job = Job.objects.get(pk=int(undo.rstrip("/").rsplit("/", 1)[1]))
            Job.objects.filter(pk=job.pk).update(part_rows=2)
            tasks.advance_job(job.pk)
            assert job_actions.stop(by=desk.place.asker, job=job)
            desk.run(job)
        assert "Undo started" in said(manager.get(there))
        manager.post(f"{undo}continue/")
        run(desk, undo)
        assert "Undone" in said(manager.get(there))
        assert not any(code.startswith("NEW") for code in at_service(desk))


class TestPeopleWhoMay:
    @pytest.fixture
    def support(self, desk):
        """Return a person of the support staff in a support session, who imports but cannot delete."""
        person = User.objects.create_user("s@example.test", "x" * 12, name="S", platform_role="support")
        with inside(desk):
            ends = timezone.now() + timedelta(hours=1)
            SupportSession.objects.create(tenant=desk.place.tenant, user=person, reason="Ticket 12", expires_at=ends)
        return signed_in(person)

    def test_not_delete_restore_the_changed_members_only(self, desk, manager, support, url):
        first = known(desk, 1)[0]
        there = imported(desk, manager, url, *new(desk, 2), ["改名", first.member_code, "", ""])
        undo = prepared(support, there)
        page = said(support.get(undo))
        assert "Will change 1 Skipped 2" in page
        assert "2 new members are kept: your role cannot delete members. (新人1, 新人0)" in page
        assert "Change 1 member" in page
        undone(desk, support, undo)
        left = at_service(desk)
        assert {"NEW0", "NEW1"} <= left.keys()
        assert left[first.member_code]["member_name"] == first.member_name

    def test_only_look_can_neither_prepare_nor_start_an_undo(self, desk, manager, support, url, make):
        there = imported(desk, manager, url, *new(desk, 1))
        undo = prepared(manager, there)
        auditor = desk.place.client(desk.place.staff("auditor"))
        assert auditor.post(f"{there}undo/").status_code == 403
        assert "Your role can view this but not start it. Ask an owner for the permission." in said(auditor.get(undo))
        for person in (auditor, support):
            assert person.post(f"{undo}start/", {"typed": "1"}).status_code == 403
        other = make()
        assert (
            other.client().post(there.replace(desk.place.tenant.slug, other.tenant.slug) + "undo/").status_code == 404
        )
        assert "NEW0" in at_service(desk)

    def test_delete_prove_who_they_are_first(self, desk, manager, url):
        there = imported(desk, manager, url, *new(desk, 1))
        session = manager.session
        age_proof(session)
        assert "/accounts/reauthenticate/" in manager.post(f"{there}undo/")["Location"]
