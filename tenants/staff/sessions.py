"""Sessions and signed-in people, read by SQL that is compiled and planned once, as every request needs them.

Nothing is cached: a sign-out or a disabled account takes effect at once.
"""

from typing import Any

from allauth.account.auth_backends import AuthenticationBackend
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.utils import timezone

from tenants.models import User
from tenants.postgresql.compiled_queries import CompiledQuery

_session = CompiledQuery[Session](lambda key: Session.objects.filter(session_key=key), key="")
_user = CompiledQuery[User](lambda user: User.objects.filter(pk=user), user=0)


class SessionStore(db.SessionStore):
    """Django's sessions in the database."""

    def _validate_session_key(self, key: str | None) -> bool:
        # A cookie may hold any character, but PostgreSQL's text may not.
        return key is not None and len(key) >= 8 and key.isascii() and key.isalnum()

    def _get_session_from_db(self) -> Session | None:
        for session in _session.rows(key=self.session_key or ""):
            if session.expire_date > timezone.now():
                return session
        self._session_key = None
        return None


class SignedIn(AuthenticationBackend):  # type: ignore[misc]  # allauth has no types
    """The accounts of allauth."""

    def get_user(self, user_id: Any) -> User | None:
        for user in _user.rows(user=int(user_id)):
            if self.user_can_authenticate(user):
                return user
        return None
