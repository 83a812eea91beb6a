"""Models of imports: the uploaded file and the settings of the job that imports it."""

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models

from portal.base.files.reading import Layout
from portal.domain.jobs.models import Job
from tenants.models import TenantModel
from tenants.vault import EncryptedBytes, EncryptedJSON

KIND = "import"


class ImportFile(TenantModel):
    """An uploaded file, stored encrypted in pieces (`ImportChunk`). Web and workers share only the database.

    `fingerprint` is a keyed digest: it shows that a file was uploaded before, but does not reveal its content.
    """

    name = models.CharField(max_length=200)
    size = models.PositiveIntegerField()
    fingerprint = models.BinaryField()
    kind = models.CharField(max_length=4)
    encoding = models.CharField(max_length=10, blank=True, default="")
    delimiter = models.CharField(max_length=1, blank=True, default="")
    # Headings and first rows, for choosing columns. They are encrypted: without headings, the first line has personal
    # data. `more` has the rest of `FileInfo`.
    headings = EncryptedJSON()
    sample = EncryptedJSON()
    more = EncryptedJSON(null=True)

    class Meta:
        indexes = [models.Index(fields=["tenant", "fingerprint"], name="imports_same_file")]

    def __str__(self) -> str:
        return self.name

    @property
    def layout(self) -> Layout:
        """Return how the file is read."""
        known: dict[str, Any] = (self.more or {}).get("layout", {})
        return Layout.from_json({"kind": self.kind, "encoding": self.encoding, "delimiter": self.delimiter, **known})


class ImportChunk(TenantModel):
    """A piece of a file. Pieces are ordered by `number`."""

    file = models.ForeignKey(ImportFile, on_delete=models.CASCADE, related_name="chunks")
    number = models.PositiveIntegerField()
    body = EncryptedBytes()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["file", "number"], name="imports_one_chunk")]


class Sheet(TenantModel):
    """The settings of an import. `columns` maps a field to its column index, from 0.

    `lines` limits the import to these lines of the file. `rights`: where new members get their rights from ({} for
    none), see `forms.rights_to_save`. `options`: "name_order" and "date_order". `findings`: what the check found in the
    whole file, see `row_reading.RowReader`.
    """

    job = models.OneToOneField(Job, on_delete=models.CASCADE, related_name="sheet")
    file = models.ForeignKey(ImportFile, on_delete=models.PROTECT, related_name="sheets")
    lines = ArrayField(models.IntegerField(), null=True)
    columns = models.JSONField(default=dict)
    default_group = models.CharField(max_length=200, blank=True, default="")
    rights = models.JSONField(default=dict, db_default={})
    options = models.JSONField(default=dict, db_default={})
    findings = models.JSONField(default=dict, db_default={})


class ColumnChoice(TenantModel):
    """The field that was last chosen for a heading; the default for the next file. Empty if the column was left out.

    `kind`: the kind of jobs.
    """

    kind = models.CharField(max_length=20, default=KIND, db_default=KIND)
    heading = models.CharField(max_length=200)
    field = models.CharField(max_length=30, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "kind", "heading"], name="imports_one_choice_a_heading")
        ]
