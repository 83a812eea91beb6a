"""Register the deletion of stored files, and the check that a backup has them."""

from collections.abc import Iterator

from portal.base.storage import store
from portal.base.storage.models import StoredFile
from portal.base.timers import timer_registry
from tenants.backup import checking
from tenants.backup.checking import join_names
from tenants.backup.reading import RowReader
from tenants.scope import across_tenants


class StoredFiles:
    """The files in a database dump that were not to be deleted at that moment."""

    def __init__(self) -> None:
        self._sizes: dict[str, int] = {}

    def row_readers(self) -> Iterator[RowReader]:
        yield RowReader(StoredFile._meta.db_table, ("path", "size", "delete_at"), self._take)

    def _take(self, path: str, size: str, delete_at: str | None) -> None:
        if delete_at is None:
            self._sizes[path] = int(size)

    def problems(self, *, is_alone: bool) -> Iterator[str]:
        missing = [path for path, size in sorted(self._sizes.items()) if not store.has_file(path, size)]
        if missing and not is_alone:  # files that were deleted since do not matter
            with across_tenants("a backup holds all tenants"):
                rows = StoredFile.objects_across_tenants.filter(path__in=missing, delete_at=None)
                missing = sorted(rows.values_list("path", flat=True))
        if missing:
            some = f"{len(missing):,} of {len(self._sizes):,} stored files"
            yield f"{some} are missing from the store, or incomplete: {join_names(missing)}."

    def summary(self) -> str:
        return f"Its {len(self._sizes):,} stored files are in the store."


timer_registry.register("stored_files", store.delete_due, every=60.0, queue="bulk", due_rows=store.FILES_DUE.querysets)
checking.register(StoredFiles)
