"""The imports that a person may see: those of the tenant in the address, others answer like missing ones."""

from django.http import Http404, HttpRequest

from portal.imports.models import Import


def get_import(request: HttpRequest, import_id: int) -> Import:
    job = (
        Import.objects.select_related("sheet__file", "by", "tenant__environment", "retry_of")
        .filter(pk=import_id)
        .first()
    )
    if job is None:
        raise Http404
    return job
