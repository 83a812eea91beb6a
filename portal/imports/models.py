"""A spreadsheet of members on its way into the service: file, job, rows, and the requests that carry them."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from portal.imports.states import Action, Halt, JobState, PartState, RowState
from portal.intents.models import Intent
from tenants.models import SupportSession, TenantModel
from tenants.vault import EncryptedBytes, EncryptedJSON


class ImportFile(TenantModel):
    """An uploaded file. It rests encrypted in pieces (`ImportChunk`): web and workers share nothing but the database.

    `fingerprint` is a keyed digest: the same file uploaded again is recognised, its content cannot be guessed.
    """

    name = models.CharField(max_length=200)
    size = models.PositiveIntegerField()
    fingerprint = models.BinaryField()
    kind = models.CharField(max_length=4)
    encoding = models.CharField(max_length=10, blank=True, default="")
    delimiter = models.CharField(max_length=1, blank=True, default="")
    # Headings and the first rows, for choosing columns. A file without headings has people's data in its first line.
    headings = EncryptedJSON()
    sample = EncryptedJSON()

    class Meta:
        indexes = [models.Index(fields=["tenant", "fingerprint"], name="imports_same_file")]

    def __str__(self) -> str:
        return self.name


class ImportChunk(TenantModel):
    """A piece of a file, in order of `number`."""

    file = models.ForeignKey(ImportFile, on_delete=models.CASCADE, related_name="chunks")
    number = models.PositiveIntegerField()
    body = EncryptedBytes()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["file", "number"], name="imports_one_chunk")]


class Import(TenantModel):
    """One import. `columns` maps a field to the place of its column, from 0; `lines` limits it to lines of the file.

    `part_rows` and `part_bytes` shrink when the service finds a request too large. `due_at` is the timer of the dry
    run and of a running job; `lease` fences off a worker that was replaced.
    """

    file = models.ForeignKey(ImportFile, on_delete=models.PROTECT, related_name="imports")
    retry_of = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="retries")
    lines = ArrayField(models.IntegerField(), null=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    support_session = models.ForeignKey(SupportSession, null=True, on_delete=models.PROTECT, related_name="+")
    language = models.CharField(max_length=10, default="en")

    state = models.CharField(max_length=10, choices=JobState, default=JobState.DRAFT)
    halt = models.CharField(max_length=12, choices=Halt, blank=True, default="")
    # Why the file cannot be read, as a stable word with its facts.
    problem = models.JSONField(default=dict)
    columns = models.JSONField(default=dict)
    default_group = models.CharField(max_length=200, blank=True, default="")
    checked_lines = models.PositiveIntegerField(default=0)
    part_rows = models.PositiveIntegerField(default=0)
    part_bytes = models.PositiveIntegerField(default=0)

    created_at = models.DateTimeField(db_default=Now())
    checked_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    stop_asked = models.BooleanField(default=False)
    due_at = models.DateTimeField(null=True)
    lease = models.UUIDField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "-id"], name="imports_newest"),
            models.Index(fields=["due_at"], name="imports_due", condition=models.Q(due_at__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.file_id}: {self.state}"


class ImportPart(TenantModel):
    """Up to 1,000 rows in one bulk request. `ordinal` with the import names its intent: none is ever sent twice.

    `readings` counts complete lists read since the answer was lost, `read_until` is when the last of them began.
    """

    job = models.ForeignKey(Import, on_delete=models.CASCADE, related_name="parts")
    ordinal = models.PositiveIntegerField()
    action = models.CharField(max_length=10, choices=Action)
    rows = models.PositiveIntegerField()
    intent = models.ForeignKey(Intent, null=True, on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=8, choices=PartState, default=PartState.OPEN)
    # The request ended at the service, so that one later reading shows all that it did.
    ended = models.BooleanField(default=False)
    readings = models.PositiveSmallIntegerField(default=0)
    lost_at = models.DateTimeField(null=True)
    read_until = models.DateTimeField(null=True)
    seen = models.IntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["job", "ordinal"], name="imports_one_part"),
            models.UniqueConstraint(
                fields=["job"], name="imports_one_part_at_a_time", condition=~models.Q(state=PartState.CLOSED)
            ),
        ]


class ImportRow(TenantModel):
    """One line of the file. `content` (encrypted) holds what is sent, and what the mirror knew:

    {"name", "code": for people; "body": names and values of the specification; "old": {field: value} of an update}.
    `problems` (why refused) and `notes` (worth knowing) are [[field, word, {facts}], …] without values.
    """

    job = models.ForeignKey(Import, on_delete=models.CASCADE, related_name="rows")
    line = models.PositiveIntegerField()
    action = models.CharField(max_length=10, choices=Action)
    state = models.CharField(max_length=10, choices=RowState, default=RowState.CHECKED)
    member_id = models.TextField(blank=True, default="", db_collation="C")
    content = EncryptedJSON()
    problems = models.JSONField(default=list)
    notes = models.JSONField(default=list)
    code = models.CharField(max_length=20, blank=True, default="")
    detail = models.TextField(blank=True, default="")
    part = models.ForeignKey(ImportPart, null=True, on_delete=models.SET_NULL, related_name="+")
    position = models.PositiveIntegerField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    # The import that sends this row again; a row is sent again by one import only.
    retried_in = models.ForeignKey(Import, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["job", "line"], name="imports_one_row_a_line")]
        indexes = [
            models.Index(fields=["job", "state", "action", "line"], name="imports_row_by_state"),
            models.Index(
                fields=["part", "position"], name="imports_row_of_part", condition=models.Q(part__isnull=False)
            ),
        ]


class ColumnChoice(TenantModel):
    """What somebody last chose for a heading: the next file with it begins there. An empty field means: left out."""

    heading = models.CharField(max_length=200)
    field = models.CharField(max_length=30, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "heading"], name="imports_one_choice_a_heading")]
