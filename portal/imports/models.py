"""A spreadsheet of members on its way into the service: the file, and the job that it became."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from portal.core.jobs.models import Job
from tenants.models import TenantModel
from tenants.vault import EncryptedBytes, EncryptedJSON

KIND = "import"


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


class Sheet(TenantModel):
    """What an import is made from. `columns` maps a field to the place of its column, from 0; `lines` limits it to
    lines of the file. `rights`: where new members get theirs from ({} for none), see `forms.kept_rights`.
    """

    job = models.OneToOneField(Job, on_delete=models.CASCADE, related_name="sheet")
    file = models.ForeignKey(ImportFile, on_delete=models.PROTECT, related_name="sheets")
    lines = ArrayField(models.IntegerField(), null=True)
    columns = models.JSONField(default=dict)
    default_group = models.CharField(max_length=200, blank=True, default="")
    rights = models.JSONField(default=dict, db_default={})


class ColumnChoice(TenantModel):
    """What somebody last chose for a heading: the next file with it begins there. An empty field means: left out."""

    heading = models.CharField(max_length=200)
    field = models.CharField(max_length=30, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "heading"], name="imports_one_choice_a_heading")]
