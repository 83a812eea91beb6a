"""A tenant's areas on its pages: access rights in the portal's local copy, and edits as a manager makes them."""

import html
import re
import time
from typing import Any

from django.utils import timezone

from portal.areas import access_counts
from portal.domain.intents import tracking
from portal.domain.intents.models import Intent, State
from portal.domain.intents.sending import send
from portal.domain.jobs import tasks
from portal.domain.jobs.models import Job, JobState, Row
from portal.domain.people.models import Member
from portal.domain.places.models import Area
from tests.support.members import MembersDesk

PAST = "2026-01-01T00:00:00Z"


class AreasDesk(MembersDesk):
    """A facility manager who works with areas. `pages` are under /areas/."""

    def __init__(self, place: Any, role: str = "facility manager") -> None:
        super().__init__(place, role)
        self.areas_url = f"/t/{place.tenant.slug}/areas/"
        with self.scope():
            self.area, self.other = Area.objects.order_by("pk")[:2]
            self.people = list(Member.objects.order_by("name_key", "pk"))

    def at(self, rest: str = "") -> str:
        return f"{self.areas_url}{self.area.area_id}/{rest}"

    def know(self, member: Member, devices: Any, **fields: Any) -> None:
        """Store these rights of a member in the portal's local copy, as read just now."""
        with self.scope():
            told = {"devices_pass": devices, "keys_pass": None, "privilege": None}
            now = {"rights": told, "rights_read_at": timezone.now(), "use_date_start": None}
            Member.objects.filter(pk=member.pk).update(**now | fields)
            access_counts.update_grants(self.place.tenant, Member.objects.filter(pk=member.pk))

    def set_at_service(self, member: Member, devices: Any) -> None:
        """Change a member's rights at the service directly, as in the member site."""
        answer = self.place.sandbox.api(
            "PUT", f"/v1/members/{member.member_id}", token=self.place.service.token, json={"devices_pass": devices}
        )
        assert answer.status_code == 200, answer.text

    def devices(self, member: Member) -> Any:
        return self.at_service(member.member_id).get("devices_pass")

    def post(self, rest: str, values: Any) -> Any:
        return self.client.post(self.at(rest), values)

    def prepared(self, act: str, members: list[Member], **values: Any) -> Job:
        """Choose members, fill in the form, and return the job that is at its preview."""
        ids = ",".join(str(member.pk) for member in members)
        given = {"ids": ids, "step": "preview", "trust": "60", "when": "now"} | values
        if act == "grant" and "pass_.choice" not in given:
            given["pass_.choice"] = "always"
        answer = self.post(f"{act}/?list=area-choice", given)
        assert answer.status_code == 302, html.unescape(re.sub(r"<[^>]+>", " ", answer.content.decode()))
        return self.job(int(re.search(r"/edits/(\d+)/", answer["Location"])[1]))  # type: ignore[index]

    def job(self, pk: int) -> Job:
        with self.scope():
            return Job.objects.select_related("tenant").get(pk=pk)

    def run(self, job: Job, *, start: bool = True) -> Job:
        """Start an edit by its button and do the workers' steps until it is over."""
        if start:
            assert self.post(f"edits/{job.pk}/start/", {}).status_code == 302
        return self.finish(job)

    def step(self, job: Job) -> None:
        """Do one round of the workers. Also sends and polls requests that a shared hourly limit would delay."""
        with self.scope():
            tasks.advance_job(job.pk)
            for intent in Intent.objects.filter(target=f"change:{job.pk}", due_at__isnull=False):
                if intent.state == State.QUEUED:
                    send(intent)
                elif intent.state == State.ACCEPTED:
                    Intent.objects.filter(pk=intent.pk).update(due_at=PAST)
                    tracking.poll(intent)
                elif intent.state == State.UNCERTAIN:
                    Intent.objects.filter(pk=intent.pk).update(due_at=PAST)
                    tracking.reconcile(intent)

    def finish(self, job: Job, seconds: float = 60) -> Job:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.step(job)
            job = self.job(job.pk)
            if job.state != JobState.RUNNING:
                return job
            time.sleep(0.05)
        raise AssertionError(f"still {job.state}: {[(r.state, r.problems) for r in self.rows(job).values()]}")

    def rows(self, job: Job) -> dict[str, Row]:
        with self.scope():
            return {row.member_id: row for row in Row.objects.filter(job=job)}
