"""The proof of identity that each address under /t/ and /platform/ needs: a level, or the reason why it needs none."""

from django.test import Client

from tenants.models import User
from tests.support.places import age_proof, signed_in

#: Needed again after five minutes: doors and keys, secrets, safety rules, evidence, the connection, staff, support.
SHORT = {
    "alerts:address_remove", "alerts:address_renew", "alerts:address_try", "alerts:addresses", "alerts:added_rule",
    "alerts:new_rule", "alerts:recipients", "alerts:remove_rule", "alerts:rule",
    "connection:connect", "connection:licence_key", "connection:reissue", "connection:revoke",
    "devices:command", "evidence:close", "evidence:delete", "evidence:edit", "evidence:end_hold", "evidence:export",
    "evidence:remove", "evidence:reopen", "evidence:settings", "guests:settings", "intercom:unlock", "keys:command",
    "lockdown:again", "lockdown:confirm", "lockdown:open", "lockdown:rehearse", "lockdown:rehearse_open",
    "lockdown:release", "lockdown:save_settings", "lockdown:start", "lockdown:withdraw", "history:export",
    "members:export", "members:keys", "members:one_time", "members:reveal", "platform:enter", "restore:release",
    "safety:confirm", "safety:decline", "staff:change_role", "staff:invite", "staff:remove", "staff:uninvite",
    "support:allow", "webhook:change", "webhook:reveal", "webhook:test",
}  # fmt: skip
#: Needed again after an hour: decisions about access, for many people or without an end, and what monitors it.
LONG = {
    "areas:choose", "areas:edit_start", "areas:edit_undo", "areas:grant", "areas:withdraw", "cameras:edit",
    "cameras:new", "cameras:remove", "cameras:settings", "changes:continue", "changes:retry", "changes:start",
    "changes:undo", "guests:expected_continue", "guests:expected_start", "guests:preset", "guests:preset_default",
    "guests:preset_delete", "guests:preset_move", "guests:preset_new", "imports:columns", "imports:continue",
    "imports:layout", "imports:new", "imports:retry", "imports:start", "imports:undo", "member_rights:edit",
    "members:delete", "members:edit", "members:face", "members:face_delete", "members:new",
    "members:picture_edit", "reviews:assign", "reviews:cancel",
    "reviews:change", "reviews:finish", "reviews:groups", "reviews:new", "reviews:withdrawals", "rights:copy",
    "rights:template", "rights:template_delete", "rights:template_from", "rights:template_new",
}  # fmt: skip
#: Reading these returns a file. They need the same proof as `SHORT`.
FILES = {"evidence:download", "guests:expected_badges", "history:export_file", "reports:download", "reviews:file"}

#: Every other write, and why it needs no proof: a session that was left open can only do a day's usual work with it.
HARMLESS = {
    "names groups, which open nothing": {"groups:new", "groups:rename"},
    "prepares work on many rows or puts it aside: nothing is sent before its start, which asks": {
        "changes:ask", "changes:discard", "areas:edit_discard", "imports:discard", "guests:expected",
        "guests:expected_discard", "guests:expected_columns", "guests:expected_layout",
    },
    "stops work at once, or says what came of it": {
        "changes:stop", "changes:decide", "imports:stop", "imports:decide", "guests:expected_stop", "intents:decide",
        "intents:stop", "guests:request_decide", "guests:request_stop", "intercom:request_decide",
        "intercom:request_stop",
    },
    "goes on with a file of the log, whose making asked and whose download asks": {
        "history:export_stop", "history:export_continue",
    },
    "is a desk's work with one guest, done in seconds; a code opens what its visit type allows, for hours": {
        "guests:new", "guests:without_code", "guests:code", "guests:link", "guests:unlink", "guests:edit",
        "guests:extend", "guests:cut", "guests:withdraw", "guests:step", "guests:undo", "guests:close",
    },
    "keeps searches of the log, which show nothing by themselves": {
        "history:search_save", "history:search", "history:search_delete",
    },
    "decides in an access review: nothing is withdrawn before `reviews:withdrawals`, which asks": {
        "reviews:press", "reviews:confirm_many", "reviews:withdraw_many", "reviews:delegate",
    },
    "makes reports, and tells staff of them who may see them anyway; taking one out asks": {
        "reports:new", "reports:schedule", "reports:change", "reports:end", "reports:send_now",
    },
    "shows what a camera sees: who watches is written down, and nothing is opened": {
        "cameras:status", "cameras:live", "cameras:go_on", "cameras:stop", "cameras:recording", "cameras:picture_at",
        "cameras:clip", "intercom:live", "intercom:go_on", "intercom:stop",
    },
    "adds to an incident, or protects it: nothing leaves it and nothing is lost": {
        "evidence:new", "evidence:note", "evidence:fetch", "evidence:hold", "evidence:records", "evidence:requests",
        "evidence:picture", "evidence:add_record", "evidence:add_rights",
    },
    "takes and closes single alerts, or chooses what one is told oneself": {
        "alerts:take", "alerts:give_back", "alerts:note", "alerts:close", "alerts:notify",
    },
    "must be done in seconds in an evacuation, and opens nothing": {
        "rollcall:start", "rollcall:ticks", "rollcall:add", "rollcall:end",
    },
    "draws floor plans, which open nothing": {"plans:new", "plans:edit", "plans:replace", "plans:delete"},
    "reads the service, or words what was posted": {
        "mirror:refresh", "mirror:days", "guests:refresh", "areas:load", "member_rights:words", "rights:words",
    },
    "needs the permit of the first code, for which proof was given, for ten minutes": {"members:one_time_next"},
    "only takes access away": {"support:end"},
}  # fmt: skip
#: Every other read, and why it needs no proof.
LOOKED_AT = {
    "its list leaves as a file only after fresh proof (tests/manager/test_exports.py)": {
        "areas:area", "areas:index", "changes:page", "groups:index", "guests:building_file",
        "guests:expected_failed", "guests:month_file", "imports:failed", "members:index", "members:leavers",
        "members:leavers_of",
    },
    "an empty sheet to fill in": {
        "guests:expected_template", "imports:template",
    },
    "one guest's code, or those of one party at the desk: as a picture or on paper": {
        "guests:badge", "guests:badge_pdf", "guests:code_file", "guests:party", "guests:party_badges",
        "guests:party_pdf", "guests:visit",
    },
    "a picture that a page shows, or evidence that is played on it: each look is written down": {
        "cameras:picture", "evidence:file", "intercom:picture", "members:picture", "plans:picture",
    },
    "a part of a page, drawn anew while somebody looks": {
        "areas:edit_progress", "banners", "changes:progress", "devices:status", "explain:reading", "find",
        "guests:banners", "guests:board", "guests:building_board", "guests:end_reading", "guests:expected_progress",
        "guests:find", "guests:host_choices", "guests:reading", "guests:request_outcome", "home:changes",
        "imports:progress", "intents:outcome", "intercom:request_outcome", "keys:status", "history:export_progress",
        "history:happened", "members:reading", "reports:progress", "reviews:progress", "rollcall:state",
        "rollcall:worker", "webhook:now",
    },
    "a page to look at: card numbers, codes and secrets on it are masked": {
        "alerts:address", "alerts:alert", "alerts:index", "alerts:rules", "areas:edit_page", "audit:entry",
        "audit:index", "cameras:at_door", "cameras:camera", "cameras:index", "changes:index", "connection:index",
        "connection:operations", "devices:door", "devices:index", "devices:wall", "evidence:incident",
        "evidence:index", "explain:index", "groups:group", "guests:building", "guests:by_host",
        "guests:expected_page", "guests:guest", "guests:index", "guests:month", "guests:presets",
        "guests:request_page", "home:index", "imports:index", "imports:page", "intents:index", "intents:page",
        "intercom:camera", "intercom:index", "intercom:request_page", "keys:box", "keys:index", "keys:key",
        "lockdown:evacuation", "lockdown:index", "lockdown:new", "lockdown:page", "lockdown:settings",
        "history:door_day", "history:export_page", "history:exports", "history:index", "history:people",
        "history:person_day", "history:record", "history:searches", "members:page", "plans:index", "plans:plan",
        "platform:index",
        "reports:index", "reports:page", "restore:page", "reviews:decide", "reviews:index", "reviews:item",
        "reviews:mine", "reviews:my_item", "reviews:page", "reviews:report", "rights:compare", "rights:templates",
        "roles:index", "rollcall:index", "rollcall:page", "rollcall:report", "safety:change", "staff:index",
        "staff:sign_ins",
    },
}  # fmt: skip


def aged(user: User, seconds: int = 3600) -> Client:
    """Return a browser whose person signed in so many seconds ago."""
    client = signed_in(user)
    age_proof(client.session, seconds)
    return client
