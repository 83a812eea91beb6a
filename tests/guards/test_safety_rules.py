"""Every form that could loosen a safety rule follows one (`portal.domain.safety`), or is listed here with a reason."""

from portal.domain.safety.rules import RULES
from tenants.reauthentication import SAFE_METHODS
from tenants.roles import OWNER_ONLY_PERMISSIONS, SAFETY_PERMISSIONS
from tests.support.crawl import addresses_of_tenants
from tests.support.safety import SETTINGS

#: Writes whose permission or name looks like a setting, and why none of them loosens a safety rule.
RULED = {each.name for each in SETTINGS.values()}
NO_RULE = {
    "an owner's own act, of which all owners are told": {
        "webhook:change", "support:allow", "staff:invite", "staff:change_role",
    },
    "an owner's own act, which takes rights away or lets the portal reach less": {
        "staff:remove", "staff:uninvite", "connection:connect", "connection:reissue", "connection:revoke",
        "connection:licence_key", "webhook:reveal", "webhook:test",
    },
    "lets go on what was paused after a restore, which was there before": {"restore:release"},
    "is the second person's": {"safety:confirm", "safety:decline"},
    "is about one incident, on the record with what was removed": {
        "evidence:new", "evidence:edit", "evidence:note", "evidence:fetch", "evidence:close", "evidence:reopen",
        "evidence:hold", "evidence:end_hold", "evidence:records", "evidence:requests", "evidence:picture",
        "evidence:add_record", "evidence:add_rights", "evidence:remove", "evidence:delete", "evidence:export",
    },
    "adds to who is told, or tells no less": {
        "alerts:addresses", "alerts:address_try", "alerts:address_renew", "alerts:new_rule",
    },
    "is a person's own wish": {"alerts:notify"},
    "sets up what the desk issues, within the rights of whoever issues it": {
        "guests:preset_new", "guests:preset", "guests:preset_delete", "guests:preset_move", "guests:preset_default",
    },
    "keeps the list of cameras": {"cameras:new", "cameras:edit", "cameras:remove"},
    "sends reports to people who may read them anyway": {"reports:schedule"},
}  # fmt: skip


def test_every_form_that_looks_like_a_setting_follows_a_rule_or_loosens_none():
    words = ("setting", "rule", "recipient", "notify", "allow", "schedule", "retention", "safety")
    found = {
        each.name
        for each in addresses_of_tenants()
        if each.view.methods - SAFE_METHODS
        and (each.view.permission in SAFETY_PERMISSIONS or any(word in each.name for word in words))
    }
    others = [name for names in NO_RULE.values() for name in names]
    assert len(others) == len(set(others))
    assert not RULED & set(others)
    assert RULED | set(others) == found


def test_who_may_change_a_safety_rule_is_one_table():
    assert {each.permission for each in RULES.values()} | OWNER_ONLY_PERMISSIONS == SAFETY_PERMISSIONS
    assert {each.rule for each in SETTINGS.values()} == set(RULES)
