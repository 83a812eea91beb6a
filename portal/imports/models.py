"""Models of imports: the uploaded file and the settings of the job that imports it."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

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
    # data.
    headings = EncryptedJSON()
    sample = EncryptedJSON()

    class Meta:
        indexes = [models.Index(fields=["tenant", "fingerprint"], name="imports_same_file")]

    def __str__(self) -> str:
        return self.name


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
    none), see `forms.rights_to_save`.
    """

    job = models.OneToOneField(Job, on_delete=models.CASCADE, related_name="sheet")
    file = models.ForeignKey(ImportFile, on_delete=models.PROTECT, related_name="sheets")
    lines = ArrayField(models.IntegerField(), null=True)
    columns = models.JSONField(default=dict)
    default_group = models.CharField(max_length=200, blank=True, default="")
    rights = models.JSONField(default=dict, db_default={})


class ColumnChoice(TenantModel):
    """The field that was last chosen for a heading; the default for the next file. Empty if the column was left out."""

    heading = models.CharField(max_length=200)
    field = models.CharField(max_length=30, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "heading"], name="imports_one_choice_a_heading")]
