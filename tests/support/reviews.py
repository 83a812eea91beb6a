"""An access review: its manager starts it and reviewers decide it. The test does the workers' steps."""

import re
import uuid
from datetime import timedelta
from typing import Any

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accessapi.permissions import always
from portal.domain.jobs.models import Job
from portal.domain.people.models import Member
from portal.reviews import review_worker
from portal.reviews.models import Item, Review
from tests.support.areas import AreasDesk
from tests.support.members import said
from tests.support.outbox import send_messages

NOTHING = {"default_mode": "deny_all"}


def option(*area_ids: str) -> dict[str, Any]:
    """Return rights to these areas at all hours."""
    return {"default_mode": "option", "areas_list": [{"area_id": each, "pass": always()} for each in area_ids]}


class ReviewsDesk(AreasDesk):
    """A review of the first area, to which three people have access. The reviewer sees nothing else of the tenant."""

    def __init__(self, place: Any) -> None:
        super().__init__(place)
        self.reviewer = place.staff("reviewer")
        self.decider = place.client(self.reviewer)
        self.holders = sorted(self.people[:3], key=lambda member: member.member_id)
        for member in self.holders:
            self.hold(member, option(self.area.area_id))

    def hold(self, member: Member, devices: Any) -> None:
        """Store these rights of a member at the service and in the portal."""
        self.set_at_service(member, devices)
        self.know(member, devices)

    def link(self, name: str, *more: Any) -> str:
        return reverse(f"reviews:{name}", args=[self.place.tenant.slug, *more])

    def start(self, *reviewers: Any, **values: Any) -> Review:
        """Start a review of the first area by the form, and let its rights be listed."""
        due = timezone.now().date() + timedelta(days=14)
        told = {"title": "Autumn", "areas": [self.area.area_id], "due_on": due.isoformat(), "split": "even"}
        told |= {"reviewers": [user.pk for user in reviewers or [self.reviewer]], "nonce": str(uuid.uuid4()), **values}
        answer = self.client.post(self.link("new"), told)
        assert answer.status_code == 302, said(answer)
        found = re.search(r"/reviews/(\d+)/", answer["Location"])
        assert found is not None
        return self.work(int(found[1]))

    def work(self, review: Review | int) -> Review:
        """Do the worker's steps that are due, and return the review as it is then."""
        pk = review if isinstance(review, int) else review.pk
        with self.scope():
            review_worker.run_steps(pk)
            return Review.objects.get(pk=pk)

    def remind(self, review: Review) -> None:
        """Do the reminders' step, and send its mails."""
        with self.scope():
            review_worker.remind(review.pk)
            send_messages()

    def look_again(self, review: Review) -> Review:
        """Make the review's next check due, and do it."""
        with self.scope():
            Review.objects.filter(pk=review.pk).update(looked_at=timezone.now() - timedelta(hours=1))
        return self.work(review)

    def item(self, review: Review, member: Member) -> Item:
        with self.scope():
            return Item.objects.get(review=review, member_id=member.member_id, area_id=self.area.area_id)

    def buttons(self, review: Review, member: Member, client: Client | None = None) -> dict[str, str]:
        """Return the buttons of a member's row by their act, each with its value."""
        page = (client or self.decider).get(self.link("decide", review.pk)).content.decode()
        pk = self.item(review, member).pk
        return {act: f"{pk}:{rest}" for act, rest in _pressed(page, pk)}

    def press(self, review: Review, value: str, client: Client | None = None) -> Any:
        """Press a button, without JavaScript."""
        answer = (client or self.decider).post(self.link("press", review.pk), {"press": value}, follow=True)
        assert answer.status_code == 200
        return said(answer)

    def withdrawals(self, review: Review) -> Job:
        """Go to the preview of the withdrawals for the area; return its job."""
        answer = self.client.post(self.link("withdrawals", review.pk, self.area.area_id))
        found = re.search(r"/edits/(\d+)/", answer["Location"])
        assert found is not None, answer["Location"]
        return self.job(int(found[1]))

    def decide(self, review: Review, member: Member, act: str) -> str:
        return str(self.press(review, self.buttons(review, member)[act]))


def _pressed(page: str, pk: int) -> list[tuple[str, str]]:
    return [(rest.partition(":")[0], rest) for rest in re.findall(rf'value="{pk}:([^"]+)"', page)]
