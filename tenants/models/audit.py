"""The audit log: who did what, when, to what. Rows are only added; the database refuses anything else."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from tenants import sentences, vault
from tenants.models.base import TenantModel
from tenants.models.people import SupportSession
from tenants.sentences import Sentence, SentenceField, render
from tenants.vault import EncryptedJSON


class AuditKind(TenantModel):
    """The common properties of entries by which the audit log is filtered; each entry has one (`kind`).

    A tenant has some hundreds, so a filter first finds the matching kinds, in an audit log of any size. The database
    sets each entry's kind (migration 0006). There is no unique constraint: two sessions may add the same kind at once,
    and neither waits.
    """

    # The one index begins with the tenant.
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, db_index=False)
    action = models.CharField(max_length=60, db_collation="C")
    # The result of a request, for its outcomes ("failed"); else empty.
    result = models.CharField(max_length=60, blank=True, default="")
    # The kind of the target ("member"), and whether only the outcome has it, as when a member is created.
    target_kind = models.CharField(max_length=200, blank=True, default="")
    names_target = models.BooleanField(default=False)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    by_label = models.CharField(max_length=120, blank=True, default="")
    in_support = models.BooleanField(default=False)

    class Meta:
        indexes = [models.Index(fields=["tenant", "action"], name="tenants_auditkind_action")]

    def __str__(self) -> str:
        return f"{self.action} {self.target_kind} {self.by_label}"


class AuditEntry(TenantModel):
    """One action. `before` and `after` may hold personal data and are encrypted; the writer leaves out secrets."""

    # Every index of this table begins with the tenant; one more would only slow down writes.
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, db_index=False)
    at = models.DateTimeField(default=timezone.now)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    by_label = models.CharField(max_length=120, blank=True, default="")
    support_session = models.ForeignKey(SupportSession, null=True, on_delete=models.PROTECT)
    # The client's address of the request; empty for workers and commands.
    address = models.GenericIPAddressField(null=True)
    action = models.CharField(max_length=60)
    target = models.CharField(max_length=200, blank=True, default="", db_collation="C")
    summary = SentenceField(blank=True, default="")
    before = EncryptedJSON(null=True)
    after = EncryptedJSON(null=True)
    intent_id = models.CharField(max_length=40, blank=True, default="")
    # Set by the database when the entry is added: its kind, and the time and ID of its action. An outcome has those of
    # its request. Lists are ordered and paged by them.
    kind = models.ForeignKey(
        AuditKind, on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False, db_default=0
    )
    act_at = models.DateTimeField(db_default=Now())
    act_id = models.BigIntegerField(db_default=0)

    # Set for the reader (`tenants.audit_log`): the guest it is about, the name of its target now, and the result of
    # the action.
    guest = ""
    target_name = ""
    ended = ""

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "-act_at", "-act_id"], name="tenants_audit_newest_act"),
            models.Index(fields=["tenant", "kind", "-act_at", "-act_id"], name="tenants_audit_newest_of_kind"),
            models.Index(fields=["tenant", "target", "-at"], name="tenants_audit_target"),
            models.Index(
                fields=["tenant", "intent_id"], condition=~models.Q(intent_id=""), name="tenants_audit_intent"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.action} {self.target}"

    @property
    def is_readable(self) -> bool:
        """Return whether VAULT_KEYS decrypts `before` and `after`."""
        return not vault.is_unreadable(self)

    @property
    def sentence(self) -> SafeString:
        """Return the action as pages show it: the stored sentence, else the sentence of its action."""
        summary = self.summary or Sentence(self.action)
        return render(summary.with_names(guest=self.guest) if isinstance(summary, Sentence) and self.guest else summary)

    @property
    def outcome(self) -> SafeString | str:
        """Return the result of an action: from its own action for an outcome, else as the list found it."""
        return render(Sentence(f"outcome.{self._result}")) if self._result else ""

    @property
    def _result(self) -> str:
        is_outcome = bool(self.intent_id) and "." in self.action and not self.action.startswith("intent.")
        return self.action.rpartition(".")[2] if is_outcome else self.ended

    @property
    def about(self) -> SafeString | str:
        """Return the target as pages show it: its kind in words with its name, or its number if it has no name.

        A kind without words is shown in code type.
        """
        if self.target_name:
            return sentences.target_words(self.target, self.target_name)
        if self.target.partition(":")[0] in sentences.TARGETS:
            return sentences.target_words(self.target)
        return format_html("<code>{}</code>", self.target) if self.target else ""

    @property
    def who(self) -> str:
        """Return the actor as pages show it.

        The portal, the service and the command line are in the reader's language.
        """
        if self.by_id is None and self.by_label in sentences.ACTORS:
            return str(sentences.ACTORS[self.by_label])
        return self.by_label or (str(self.by) if self.by_id else "–")
