"""Fields and forms of rights: one pass drawn as a week, a template, and rights from a template or a member."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from accessapi.permissions import always, never
from accessapi.permissions.passes import Json, normal_pass
from portal.base.ui.inputs import set_choices
from portal.base.ui.shown_values import FIELD, ConflictForm, seal
from portal.base.ui.value_words import join_sentences
from portal.domain.rights import editing, member_rights, words
from portal.domain.rights.editing import SCHEDULE_EDITS, apply_edit
from portal.domain.rights.editor_view import ScheduleView, sample_rows
from portal.domain.rights.models import NAME_MAX, RightsTemplate
from portal.domain.rights.schedules import WEEKLY, Slot
from portal.domain.rights.sheet import ALWAYS, NEVER, Schedule, SchedulePool

_ONLY_SCHEDULE = "s1"
CHOICES = {"always": _("At any time"), "schedule": _("By schedule"), "never": _("Never")}


class PassWidget(forms.Widget):
    """The inputs of one pass: a choice, and the lines of its schedule. Their names begin with `<name>.`."""

    template_name = "rights/pass_field.html"

    def __init__(self, allow: Iterable[str] = ("always", "schedule"), *, templates: bool = False) -> None:
        super().__init__()
        self.allow, self.templates = tuple(allow), templates

    def is_editing(self, data: Any, name: str) -> bool:
        """Return True if the post only adds a line or a template: show the form again and save nothing."""
        return bool(data.get(f"{name}.act"))

    def value_from_datadict(self, data: Any, files: Any, name: str) -> Any:
        """Return the posted (choice, pool), or None if this field was not posted."""
        if not isinstance(data, QueryDict) or f"{name}.choice" not in data:
            return None
        pool = editing.parse_pool(data, f"{name}.")
        pool.schedules = {_ONLY_SCHEDULE: pool.schedules.get(_ONLY_SCHEDULE, Schedule())}
        apply_edit(data.get(f"{name}.act", ""), pool, SCHEDULE_EDITS)
        return data[f"{name}.choice"], pool

    def value_omitted_from_data(self, data: Any, files: Any, name: str) -> bool:
        return f"{name}.choice" not in data

    def id_for_label(self, id_: str | None) -> str:
        return ""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        choice, pool = value if isinstance(value, tuple) else choice_and_pool(value, self.allow)
        schedule = pool.schedules.setdefault(_ONLY_SCHEDULE, Schedule([Slot(WEEKLY)]))
        context = {
            "name": name,
            "choice": choice,
            "choices": [(key, CHOICES[key]) for key in self.allow],
            "kept": [(key, seal(value), value) for key, value in pool.raw_passes.items()],
            "only": self.allow == ("schedule",),
            "schedule": ScheduleView.of(_ONLY_SCHEDULE, schedule, prefix=f"{name}."),
            "templates": member_rights.schedule_templates() if self.templates else [],
            "act": f"{name}.act",
            "prefix": f"{name}.",
            **sample_rows(),
        }
        return render_to_string(self.template_name, context)


def choice_and_pool(pass_: Any, allow: Iterable[str]) -> tuple[str, SchedulePool]:
    """Return the choice and the pool that represent a pass in the form."""
    pool = SchedulePool()
    if pass_ in (None, ""):
        pool.schedules[_ONLY_SCHEDULE] = Schedule([Slot(WEEKLY)])
        return ("schedule" if "schedule" in allow else next(iter(allow))), pool
    choice = pool.choice_of(pass_)
    if choice not in (ALWAYS, NEVER, _ONLY_SCHEDULE):
        return choice, pool
    if choice == _ONLY_SCHEDULE:
        return "schedule", pool
    pool.schedules[_ONLY_SCHEDULE] = Schedule([Slot(WEEKLY)])
    return choice, pool


class PassField(forms.Field):
    """One pass. `cleaned_data` holds it in canonical form; `allow` are the offered choices.

    An undescribed pass is kept if it was the initial value. Without script the field is a table of inputs.
    """

    def __init__(
        self, *, allow: Iterable[str] = ("always", "schedule"), templates: bool = False, **kwargs: Any
    ) -> None:
        kwargs.setdefault("widget", PassWidget(allow, templates=templates))
        super().__init__(**kwargs)
        self.allow = tuple(allow)

    def read(self, value: Json) -> str:
        """Return a pass in words."""
        return words.pass_text(value)

    def clean(self, value: Any) -> Json | None:
        """Return the pass. An unreadable line is an error with a message beside it."""
        if value is None:
            if self.required:
                raise ValidationError(_("Choose when."))
            return None
        choice, pool = value
        if choice in pool.raw_passes:
            raw_pass: Json = pool.raw_passes[choice]
            return raw_pass
        if choice not in self.allow:
            raise ValidationError(_("Choose when."))
        if choice == "schedule":
            return self._scheduled(pool.schedules[_ONLY_SCHEDULE])
        return always() if choice == ALWAYS else never()

    def _scheduled(self, schedule: Schedule) -> Json:
        pass_ = schedule.to_pass()
        if schedule.is_wrong:
            raise ValidationError(_t("Some times need correcting. See the messages beside them."))
        if not pass_["schedule"]:
            sentences = [_t("Enter at least one line of days and times.")]
            never = _t("For no access, choose “Never”.") if "never" in self.allow else ""
            raise ValidationError(join_sentences([*sentences, never or _t("For no access, leave the place out.")]))
        return pass_

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            return bool(normal_pass(initial) != self.clean(data))
        except ValidationError:
            return True


def _name_field(label: Any, *, required: bool, **more: Any) -> forms.CharField:
    return forms.CharField(label=label, max_length=NAME_MAX, required=required, **more)


class TemplateForm(ConflictForm, forms.Form):
    """A schedule that the tenant keeps as a template."""

    name = _name_field(_("Template name"), required=True)
    name_ja = _name_field(_("Name in Japanese"), required=False)
    schedule = PassField(label=_("Times"), allow=("schedule",))

    def __init__(self, *args: Any, template: RightsTemplate | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.template = template
        if template is None or template.pk is None:
            del self.fields[FIELD]  # nothing is stored yet
        if template is not None and template.kind == RightsTemplate.Kind.RIGHTS:
            del self.fields["schedule"]

    def clean_name(self) -> str:
        """Return the name. It must be unique in a tenant, because lists show nothing else."""
        name = str(self.cleaned_data["name"]).strip()
        others = RightsTemplate.objects.filter(name=name)
        if self.template is not None:
            others = others.exclude(pk=self.template.pk)
        if others.exists():
            raise ValidationError(_("A template with this name already exists. Enter a different name."))
        return name


class RightsSourceForm(forms.Form):
    """The source of new rights: a template or a member. `rights` are the rights, `source_name` is its name."""

    rights_source = forms.ChoiceField(
        label=_("Which rights"),
        choices=[("template", _("From a template:")), ("member", _("Same as a member:"))],
        initial="template",
        widget=forms.RadioSelect,
    )
    rights_template = forms.ChoiceField(label=_("Template"), required=False)
    rights_member = forms.CharField(
        label=_("Member code or member ID"), required=False, max_length=200,
        help_text=_("This member's rights as last loaded."),
    )  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.templates = {
            str(each.pk): each for each in member_rights.all_templates().filter(kind=RightsTemplate.Kind.RIGHTS)
        }
        named = [(pk, each.title) for pk, each in self.templates.items()]
        set_choices(self, rights_template=[("", _t("Choose a template")), *named])
        self.rights: member_rights.RightsBody = {}
        self.source_name = ""

    @property
    def source(self) -> str:
        return str(self.cleaned_data.get("rights_source") or "none")

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if self.source == "template" and "rights_template" not in self.errors:
            self._from_template(str(cleaned.get("rights_template") or ""))
        if self.source == "member" and "rights_member" not in self.errors:
            self._from_member(str(cleaned.get("rights_member") or "").strip())
        return cleaned

    def _from_template(self, chosen: str) -> None:
        template = self.templates.get(chosen)
        if template is None:
            self.add_error("rights_template", _t("Choose a template."))
            return
        self._set_rights(member_rights.rights_of_template(template), template.title, "rights_template")

    def _from_member(self, text: str) -> None:
        try:
            found = member_rights.find_source_member(text)
        except ValidationError as error:
            self.add_error("rights_member", error)
            return
        self._set_rights(member_rights.rights_of_member(found), str(found), "rights_member")

    def _set_rights(self, body: member_rights.RightsBody, named: str, field: str) -> None:
        self.rights, self.source_name = body, named
        if not body:
            self.add_error(field, _t("It contains no rights."))


class NewMemberRightsForm(RightsSourceForm):
    """The first access rights of new members. `body_for` returns them for the request to the service."""

    rights_source = forms.ChoiceField(
        label=_("Access rights"),
        choices=[
            ("none", _("None for now")),
            ("template", _("From a template:")),
            ("member", _("Same as a member:")),
            ("group", _("The group's usual rights (shared by more than half of its members)")),
        ],
        initial="none",
        required=False,
        widget=forms.RadioSelect,
    )

    def body_for(self, membergroup_id: str) -> member_rights.RightsBody | None:
        """Return the rights of a new member of this group.

        Return None, with an error beside the choice, if the group has no usual rights.
        """
        if self.source != "group":
            return self.rights
        found = member_rights.usual_rights([membergroup_id]).get(membergroup_id)
        if found is None:
            self.add_error(
                "rights_source",
                _t(
                    "This group has no usual rights among those loaded. Choose another option: “None for now”"
                    " creates the member without rights, to be set later."
                ),
            )
        return found
