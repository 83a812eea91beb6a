"""The rights that an import's new members get: chosen with the columns, looked up when the rows are checked.

Kept is where they come from ({"source", "template", "member", "named"}), not what they are: a dry run that is made
again gives what the template says or the member has by then, and the preview is about just that.
"""

from collections.abc import Callable, Mapping

from django.core.exceptions import ValidationError

from portal.core.rights import giving
from portal.core.rights.models import RightsTemplate
from portal.imports.matching import Groups

Give = Callable[[str], giving.Body | None]


def chosen(form: giving.NewRights) -> dict[str, str]:
    """What a valid form asks for, to be kept."""
    if form.source == "none":
        return {}
    cleaned = form.cleaned_data
    kept = {"source": form.source, "named": form.named}
    names = {"template": "rights_template", "member": "rights_member"}
    return kept | ({form.source: str(cleaned[names[form.source]]).strip()} if form.source in names else {})


def initial(kept: Mapping[str, str]) -> dict[str, str]:
    """The form as it was filled in."""
    told = {"rights_source": kept.get("source", "none")}
    return told | {f"rights_{name}": kept[name] for name in ("template", "member") if name in kept}


def giver(kept: Mapping[str, str], groups: Groups) -> Give:
    """What a new member of a group gets. None: it was asked for something that is not there (any more)."""
    match kept.get("source"):
        case "template":
            return _same_for_all(_of_template(kept["template"]))
        case "member":
            return _same_for_all(_of_member(kept["member"]))
        case "group":
            found = giving.usual(groups.names)
            return lambda group: found.get(group)
        case _:
            return lambda _group: {}


def _same_for_all(body: giving.Body | None) -> Give:
    return lambda _group: body


def _of_template(pk: str) -> giving.Body | None:
    found = RightsTemplate.objects.filter(pk=int(pk), kind=RightsTemplate.Kind.RIGHTS).first()
    return giving.of_template(found) if found else None


def _of_member(text: str) -> giving.Body | None:
    try:
        return giving.of_member(giving.model(text)) or None
    except ValidationError:
        return None
