"""Template tags of the portal's components. `docs/screens.md` shows how each is used."""

from collections.abc import Iterable, Sized
from datetime import date, datetime
from typing import Any

from django import template
from django.forms import BaseForm, BoundField
from django.template.base import Node, NodeList, Parser, Token, render_value_in_context
from django.template.context import Context
from django.template.defaulttags import CsrfTokenNode
from django.template.loader import render_to_string
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from portal.base.ui import charts, chips, inputs, live_updates, nav, times, value_words
from portal.base.ui.fragment_cache import CachedNode, UncachedNode
from portal.base.ui.identity import TenantIdentity
from portal.base.ui.outcome_lines import OutcomeLine
from portal.base.ui.panels import draw
from tenants import access, interrupted_requests
from tenants.client_addresses import describe_browser
from tenants.models import Tenant, User
from tenants.roles import Permission, Role

register = template.Library()


@register.simple_tag
def icon(name: str, size: int = 18, label: str = "") -> SafeString:
    """`{% icon "door" 20 %}`: an icon; set `label` only if there is no text beside it."""
    return chips.icon(name, size, str(label))


@register.simple_tag
def why_second_factor(user: User) -> list[tuple[Tenant | None, type[Role], list[Permission]]]:
    """`{% why_second_factor user as reasons %}`: roles that need one, each with its tenant and permissions."""
    return access.second_factor_reasons(user)


@register.simple_tag
def chip(state: str, text: str = "", as_of: datetime | None = None) -> SafeString:
    """`{% chip door.state as_of=door.as_of %}`: a state as text and shape."""
    return chips.chip(state or "", text=text, as_of=as_of)


@register.simple_tag
def watch(part: str, pace: str = "normal") -> SafeString:
    """`<div hx-get="…" {% watch "overview" %}>`: a part that updates while the page is open.

    `pace` is a key of `live_updates.INTERVALS`. It also updates when an outcome is known or the tab is opened again.
    """
    return format_html(
        'hx-trigger="look, outcome-known from:body, update-now from:body" data-live data-watch="{}" data-every="{}"',
        part,
        live_updates.INTERVALS[pace],
    )


@register.filter
def stamp(moment: datetime | date | None, to: str = "minutes") -> str:
    """`{{ member.updated_at|stamp }}` -> 2026-11-21 09:41; `|stamp:"seconds"` -> 2026-11-21 09:41:07"""
    return times.time_tag(moment, seconds=to == "seconds")


@register.filter
def clock(moment: datetime | None) -> str:
    """`{{ run.as_of|clock }}` -> 09:41:07, with the date on another day"""
    return times.clock_tag(moment)


@register.filter
def ago(moment: datetime | None) -> str:
    """`{{ run.as_of|ago }}` -> 5 min ago"""
    return times.relative_words(moment)


@register.filter
def about_time(seconds: int) -> str:
    """`{{ cost.seconds|about_time }}` -> less than a minute, about 3 minutes, about 2 hours"""
    return times.duration_estimate(seconds)


@register.filter
def browser(user_agent: str) -> str:
    """`{{ session.user_agent|browser }}` -> Firefox 140, Windows; unknown browsers are shown shortened"""
    return describe_browser(user_agent)


@register.filter
def listed(values: Iterable[Any]) -> str:
    """`{{ doors|listed }}` -> Lobby, Dock; with 、 in Japanese"""
    return value_words.join_values(values)


@register.filter
def bracketed(text: object) -> str:
    return value_words.add_brackets(text)


@register.filter
def quoted(text: str) -> str:
    return value_words.add_quotes(text)


@register.filter
def labelled(value: Any, label: Any) -> str:
    """`{{ person.name|labelled:_("Undo") }}` -> Undo: 佐藤; with ： in Japanese"""
    return value_words.add_label(value, label)


@register.filter
def with_weekday(day: date, to: str = "Y-m-d") -> str:
    """`{{ day|with_weekday }}` -> 2026-11-25 (Wed); `|with_weekday:"m-d"` -> 11-25 (Wed)"""
    return times.weekday_text(day, to)


@register.filter
def word(value: str, kind: str) -> str:
    """`{{ member.account_type|word:"account" }}` -> General; unknown values are shown in code type"""
    return value_words.service_word(kind, str(value or ""))


@register.filter
def identity(tenant: Any) -> TenantIdentity:
    """`{% with me=tenant|identity %}`: the tenant's colour and initials."""
    return TenantIdentity.of(tenant)


@register.inclusion_tag("components/tenant_mark.html")
def tenant_mark(tenant: Any, size: int = 28) -> dict[str, Any]:
    """`{% tenant_mark tenant %}`: the tile with a tenant's colour and initials."""
    return {"mark": TenantIdentity.of(tenant), "size": size}


@register.inclusion_tag("components/field.html", takes_context=True)
def field(context: Context, bound: BoundField, autofocus: bool = False, placeholder: str = "") -> dict[str, Any]:
    """`{% field form.member_name %}`: label, control, help with its limit, errors."""
    refused(context, bound.errors)
    extra: dict[str, Any] = {"autofocus": True} if autofocus else {}
    if placeholder:
        extra["placeholder"] = placeholder
    return {
        "bound": bound,
        "kind": inputs.kind_of(bound),
        "control": inputs.draw_control(bound, **extra),
        "limit": inputs.limit_words(bound),
    }


@register.inclusion_tag("components/problems.html", takes_context=True)
def problems(context: Context, form: BaseForm) -> dict[str, Any]:
    """`{% problems form %}`: a summary of the errors, with links to their fields."""
    refused(context, form.errors)
    return {"problems": inputs.problems(form)}


@register.simple_tag(takes_context=True)
def refused(context: Context, errors: Sized) -> str:
    """`{% refused form.errors %}`: for errors drawn by hand. Answers a posted form with 422, as `problems` does."""
    if errors and "request" in context:
        context["request"].shows_errors = True
    return ""


@register.inclusion_tag("components/table.html", takes_context=True)
def table(context: Context, table: Any) -> dict[str, Any]:
    """`{% table table %}`: a list with its tools."""
    return {**_shared_context(context), "table": table}


@register.inclusion_tag("components/outcome.html", takes_context=True)
def outcome(context: Context, outcome: OutcomeLine, compact: bool = False) -> dict[str, Any]:
    """`{% outcome outcome %}`: the outcome of a request."""
    return {**_shared_context(context), "outcome": outcome, "compact": compact}


@register.inclusion_tag("components/progress.html", takes_context=True)
def progress(context: Context, progress: Any) -> dict[str, Any]:
    """`{% progress job %}`: counts, rate, remaining rows, failures, stop. See `outcome_lines.Progress`."""
    return {**_shared_context(context), "progress": progress}


@register.inclusion_tag("components/secret.html", takes_context=True)
def secret(context: Context, label: str, url: str, value: str = "", hint: str = "") -> dict[str, Any]:
    """`{% secret _("Card number") reveal_url %}`: masked until a POST to `url` returns it shown, for 30 s."""
    return {**_shared_context(context), "label": label, "url": url, "value": value, "hint": hint}


@register.simple_tag(takes_context=True)
def panels(context: Context, page: str) -> SafeString:
    """`{% panels "connection" %}`: panels that areas of work add to a page. See `portal.base.ui.panels`."""
    return format_html_join("", "{}", ((each,) for each in draw(page, context["request"])))


@register.simple_tag(takes_context=True)
def entries_without(context: Context, contract: str) -> list[str]:
    """`{% entries_without "door" as hidden %}`: the person's entries of the menu that a missing contract hides."""
    return [str(entry.label) for entry in nav.entries_of(context["request"]) if entry.contract == contract]


@register.inclusion_tag("components/bars.html")
def bars(chart: charts.BarChart, open_table: bool = False) -> dict[str, Any]:
    """`{% bars chart %}`: a bar chart with its figures in a table."""
    return {"chart": chart, "open_table": open_table}


@register.inclusion_tag("components/pairs.html")
def pairs(chart: charts.PairChart) -> dict[str, Any]:
    """`{% pairs chart %}`: two counts beside each other over time, with their figures in a table."""
    return {"chart": chart}


@register.inclusion_tag("components/meter.html")
def meter(source: Any) -> dict[str, Any]:
    """`{% meter calls %}`: how much of a limit is left and when it refills."""
    return {"meter": charts.build_meter(source)}


@register.inclusion_tag("components/rights_week.html")
def rights_week(days: list[charts.RightsDay], sentence: str = "") -> dict[str, Any]:
    """`{% rights_week days sentence %}`: the hours with access, as a drawing, a table and a sentence."""
    return {"days": days, "sentence": sentence, "hours": range(0, 25, 6)}


@register.inclusion_tag("components/unknown.html")
def unknown_values(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """`{% unknown_values pairs %}`: values of the service that the portal does not know."""
    return {"pairs": pairs}


@register.inclusion_tag("components/empty.html")
def empty(title: str, text: str = "", icon: str = "inbox", action: str = "", url: str = "") -> dict[str, Any]:
    """`{% empty _("No imports yet") action=_("Start one") url=new_url %}`: an empty state with the next step."""
    return {"title": title, "text": text, "icon": icon, "action": action, "url": url}


def _shared_context(context: Context) -> dict[str, Any]:
    return {name: context.get(name) for name in ("request", "frame", "csrf_token", "user")}


@register.filter
def code(value: Any) -> str:
    """`{{ camera.camera_id|code }}`: a value in code type; "" stays empty."""
    return "" if value is None or value == "" else format_html("<code>{}</code>", value)


@register.filter
def copyable(value: Any) -> str:
    """`{{ member.member_id|copyable }}`: a value in code type with a button that copies it."""
    button = '{} <button type="button" class="quiet-button" data-copy="{}" aria-label="{}">{}</button>'
    return format_html(button, code(value), value, gettext("Copy"), chips.icon("copy", 14)) if value else ""


@register.simple_tag(takes_context=True)
def fact(context: Context, label: Any, value: Any, mood: str = "") -> SafeString:
    """`{% fact _("Host") visit.host_name %}`: a row of a `<dl class="facts">`. An empty value is a dash.

    `mood` is a class of the value: `{% fact _("Refused") refused refused|yesno:"is-bad," %}`.
    """
    text = "–" if value is None or value == "" else render_value_in_context(value, context)
    mark = format_html(' class="{}"', mood) if mood else ""
    return format_html("<div><dt>{}</dt><dd{}>{}</dd></div>", label, mark, text)


class FactNode(Node):
    """A row of a `<dl class="facts">` whose value is a part of the template."""

    def __init__(self, label: Any, body: NodeList) -> None:
        self.label, self.body = label, body

    def render(self, context: Context) -> SafeString:
        return fact(context, self.label.resolve(context), SafeString(self.body.render(context).strip()))


@register.tag
def fact_row(parser: Parser, token: Token) -> FactNode:
    """`{% fact_row _("Areas") %}{% for area in areas %}…{% endfor %}{% endfact_row %}`"""
    label = parser.compile_filter(token.split_contents()[1])
    body = parser.parse(("endfact_row",))
    parser.delete_first_token()
    return FactNode(label, body)


class MenuNode(Node):
    """A `<details>` menu: it opens without scripts; a script closes it on Escape and on clicks elsewhere."""

    def __init__(self, label: Any, picture: Any, body: NodeList) -> None:
        self.label, self.picture, self.body = label, picture, body

    def render(self, context: Context) -> str:
        menu = {
            "label": self.label.resolve(context),
            "picture": self.picture.resolve(context) if self.picture else "",
            "body": self.body.render(context),
        }
        return render_to_string("components/menu.html", menu)


@register.tag
def menu(parser: Parser, token: Token) -> MenuNode:
    """`{% menu _("More") "dots" %}<a class="menu-item" href="…">…</a>{% endmenu %}`"""
    parts = token.split_contents()[1:]
    body = parser.parse(("endmenu",))
    parser.delete_first_token()
    return MenuNode(parser.compile_filter(parts[0]), parser.compile_filter(parts[1]) if parts[1:] else None, body)


@register.tag
def cached(parser: Parser, token: Token) -> CachedNode:
    """`{% cached frame.place %}…{% live %}…{% endlive %}…{% endcached %}`: a part cached by keys and language.

    It is not cached if a key is None. Nothing inside may depend on anything but the keys: no person, token, time or
    loaded data. Such parts must be inside `{% live %}`. They can use the page's variables, but none of a loop or a `{%
    with %}` inside the cached part.
    """
    keys = [parser.compile_filter(part) for part in token.split_contents()[1:]]
    body = parser.parse(("endcached",))
    parser.delete_first_token()
    return CachedNode(keys, body)


@register.tag
def live(parser: Parser, token: Token) -> UncachedNode:
    """`{% live %}{{ user.email }}{% endlive %}`: a part that is rendered on every page inside of a cached one."""
    body = parser.parse(("endlive",))
    parser.delete_first_token()
    return UncachedNode(body)


class CountNode(Node):
    """The number of things that need action behind an entry of the menu; empty if there are none."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def render(self, context: Context) -> SafeString:
        number = context["frame"].counts.get(self.kind, "")
        return format_html('<span class="nav-count" data-count="{}">{}</span>', self.kind, number)


@register.simple_tag(takes_context=True)
def nav_count(context: Context, kind: str) -> SafeString:
    """`{% nav_count link.entry.kind %}`: the count beside an entry, never cached with the menu around it."""
    return UncachedNode(NodeList([CountNode(kind)])).render(context) if kind in nav.COUNTS else SafeString("")


@register.tag
def csrf_token(parser: Parser, token: Token) -> UncachedNode:
    """`{% csrf_token %}`: Django's token and the form's person (`tenants.interrupted_requests`), never cached."""
    return UncachedNode(NodeList([FormInputsNode()]))


class FormInputsNode(Node):
    """The hidden inputs of every form: its token, and the person's token for a form that could not be sent.

    They are the same in all forms of a page, so they are drawn once.
    """

    def render(self, context: Context) -> SafeString:
        request: Any = context.get("request")
        if not hasattr(request, "user"):
            return SafeString(CsrfTokenNode().render(context))
        drawn: SafeString | None = vars(request).get("_form_inputs")
        if drawn is None:
            name = interrupted_requests.page_token(request)
            opened = (
                format_html('<input type="hidden" name="{}" value="{}">', interrupted_requests.OPENER_FIELD, name)
                if name
                else ""
            )
            drawn = vars(request)["_form_inputs"] = SafeString(CsrfTokenNode().render(context) + opened)
        return drawn
