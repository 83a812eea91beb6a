"""The addresses of jobs, for an area of work to mount."""

from django.urls import URLPattern, path, register_converter
from django.urls.converters import StringConverter, get_converters

from portal.core.jobs import views
from portal.core.jobs.views import Pages


class Sheet(StringConverter):
    regex = "csv|xlsx"


class Language(StringConverter):
    regex = "en|ja"


for name, converter in (("sheet", Sheet), ("spoken", Language)):
    if name not in get_converters():
        register_converter(converter, name)

#: What can be done to a job, by the name and the end of its address.
ACTS = {
    "start": views.start, "stop": views.stop, "continue": views.go_on, "retry": views.retry, "undo": views.undo,
    "decide": views.decide, "discard": views.discard,
}  # fmt: skip


def under(pages: Pages, *acts: str, at: str = "<int:job_id>/", prefix: str = "") -> list[URLPattern]:
    """The pages of an area's jobs, beneath `at`, called `prefix` + page, progress, the names of `acts`; with a sheet,
    also `failed`, the file of rows to correct. `kinds.Kind.page` has to lead there.
    """
    found = [
        path(at, views.reading(pages, views.page), name=f"{prefix}page"),
        path(f"{at}progress/", views.reading(pages, views.progress), name=f"{prefix}progress"),
        *(path(f"{at}{act}/", views.doing(pages, ACTS[act]), name=f"{prefix}{act}") for act in acts),
    ]
    if pages.sheet:
        file = views.reading(pages, views.failed)
        found.append(path(f"{at}to-correct.<sheet:kind>", file, name=f"{prefix}failed"))
    return found
