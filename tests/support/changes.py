"""A person who changes many members from the list of members."""

from django.utils import timezone

from portal.domain.events import MirrorKind
from portal.domain.jobs.models import Job, Row
from portal.domain.people.models import NEVER, Member
from tests.support import cached_places, jobs
from tests.support.members import MembersDesk, said


class ChangesDesk(MembersDesk):
    """A person who changes many members from the list of members."""

    def plain(self):
        """Return members whose use period has begun and has no end."""
        now = timezone.now()
        begun = [m for m in self.members() if m.use_date_start is None or m.use_date_start < now]
        return [m for m in begun if m.use_date_end is None and m.use_end_key == NEVER]

    def ids(self, members):
        return ",".join(str(member.pk) for member in members)

    def changes(self, rest=""):
        return f"/t/{self.place.tenant.slug}/changes/{rest}"

    def ask(self, act, members=(), *, match=None, **values):
        """Post the list's selection with the change's form filled in; follow the redirect."""
        chosen = {"scope": "match", "match": match} if match is not None else {"ids": self.ids(members)}
        return self.client.post(self.changes(f"new/{act}/"), {"preview": "1", "when": "now", **chosen, **values})

    def prepared(self, act, members=(), **values):
        answer = self.ask(act, members, **values)
        assert answer.status_code == 302, said(answer)
        with self.scope():
            return Job.objects.order_by("-pk")[0]

    def post(self, job, act, **values):
        return self.client.post(self.changes(f"{job.pk}/{act}/"), values, follow=True)

    def page(self, job, **query):
        return said(self.client.get(self.changes(f"{job.pk}/"), query))

    def run(self, job):
        with self.scope():
            return jobs.run(job)

    def done(self, job, **typed):
        self.post(job, "start", **typed)
        return self.run(job)

    def changed(self, act, members=(), **values):
        return self.done(self.prepared(act, members, **values))

    def rows(self, job):
        with self.scope():
            return list(Row.objects.filter(job=job).order_by("line"))

    def rows_by_state(self, job):
        return [str(row.state) for row in self.rows(job)]

    def sync(self):
        """Read the list of members from the service again."""
        with self.scope():
            cached_places.read_anew(
                self.place, unread=[kind for kind in MirrorKind if kind not in (MirrorKind.MEMBERS, MirrorKind.GROUPS)]
            )

    def known(self, member):
        with self.scope():
            return Member.objects.get(pk=member.pk)

    def calls(self, operation):
        return len(self.place.calls(operation))
