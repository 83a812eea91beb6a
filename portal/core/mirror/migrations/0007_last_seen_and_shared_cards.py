"""Who was never seen, and whose card another has, told by the member's row; worked out here for those already known."""

from typing import Any

from django.db import migrations, models

from tenants.scope import across_tenants

_SEEN = """
UPDATE mirror_member m SET last_seen_at = h.at
FROM (SELECT tenant_id, member_id, max(at) AS at FROM mirror_history WHERE NOT member_id = '' GROUP BY 1, 2) h
WHERE m.tenant_id = h.tenant_id AND m.member_id = h.member_id
"""
_SHARES = """
UPDATE mirror_member m SET shares_card = true
FROM (
    SELECT tenant_id, card_fingerprint FROM mirror_member WHERE has_card AND gone_at IS NULL
    GROUP BY 1, 2 HAVING count(*) > 1
) twice
WHERE m.tenant_id = twice.tenant_id AND m.card_fingerprint = twice.card_fingerprint
AND m.has_card AND m.gone_at IS NULL
"""


def fill(apps: Any, schema_editor: Any) -> None:
    with across_tenants("every tenant's members are looked up in their log"):
        schema_editor.execute(_SEEN, params=None)
        schema_editor.execute(_SHARES, params=None)
        # A row written twice waits for its foreign keys to be checked, and indexes cannot be made meanwhile.
        schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE", params=None)
        schema_editor.execute("SET CONSTRAINTS ALL DEFERRED", params=None)


class Migration(migrations.Migration):
    dependencies = [("mirror", "0006_one_index_less")]

    operations = [
        migrations.AddField("member", "last_seen_at", models.DateTimeField(null=True)),
        migrations.AddField("member", "shares_card", models.BooleanField(db_default=False, default=False)),
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.AddIndex(
            model_name="member",
            index=models.Index(
                condition=models.Q(("gone_at__isnull", True), ("last_seen_at__isnull", True)),
                fields=["tenant", "name_key", "id"],
                name="mirror_member_never_seen",
            ),
        ),
        migrations.AddIndex(
            model_name="member",
            index=models.Index(
                condition=models.Q(("gone_at__isnull", True), ("shares_card", True)),
                fields=["tenant", "name_key", "id"],
                name="mirror_member_shares_card",
            ),
        ),
    ]
