"""A spreadsheet of members on its way into the service: the file, and the job that it became."""

from typing import Any, ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models

from portal.core.jobs.models import Job
from tenants.models import TenantModel
from tenants.models.base import AcrossTenantsManager, TenantManager, TenantQuerySet
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
    lines of the file. `rights`: where new members get theirs from ({} for none), see `imports/giving.py`.
    """

    job = models.OneToOneField(Job, on_delete=models.CASCADE, related_name="sheet")
    file = models.ForeignKey(ImportFile, on_delete=models.PROTECT, related_name="sheets")
    lines = ArrayField(models.IntegerField(), null=True)
    columns = models.JSONField(default=dict)
    default_group = models.CharField(max_length=200, blank=True, default="")
    rights = models.JSONField(default=dict, db_default={})


class _Imports(TenantManager["Import"]):
    def get_queryset(self) -> TenantQuerySet["Import"]:
        return super().get_queryset().filter(kind=KIND)


class _ImportsAcrossTenants(AcrossTenantsManager["Import"]):
    def get_queryset(self) -> TenantQuerySet["Import"]:
        return super().get_queryset().filter(kind=KIND)


class Import(Job):
    """A job (`portal.core.jobs`) whose rows are those of a file."""

    sheet: Sheet

    objects: ClassVar[_Imports] = _Imports()
    objects_across_tenants: ClassVar[_ImportsAcrossTenants] = _ImportsAcrossTenants()

    class Meta:
        proxy = True
        base_manager_name = "reachable_objects"
        default_manager_name = "objects"

    @property
    def file(self) -> ImportFile:
        return self.sheet.file

    @property
    def columns(self) -> dict[str, int]:
        return self.sheet.columns

    @property
    def lines(self) -> list[int] | None:
        return self.sheet.lines

    @property
    def default_group(self) -> str:
        return self.sheet.default_group

    @property
    def rights(self) -> dict[str, str]:
        return self.sheet.rights

    def refresh_from_db(self, *args: Any, **kwargs: Any) -> None:
        self._state.fields_cache.pop("sheet", None)
        super().refresh_from_db(*args, **kwargs)


class ColumnChoice(TenantModel):
    """What somebody last chose for a heading: the next file with it begins there. An empty field means: left out."""

    heading = models.CharField(max_length=200)
    field = models.CharField(max_length=30, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "heading"], name="imports_one_choice_a_heading")]
