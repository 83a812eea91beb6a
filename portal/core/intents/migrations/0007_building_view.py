"""Who is in the building has a permission of its own, which a guard has, too."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("intents", "0006_automatic"),
    ]

    operations = [
        migrations.AlterField(
            model_name="intent",
            name="permission",
            field=models.CharField(
                choices=[
                    ("tenant_view", "tenant_view"),
                    ("members_view", "members_view"),
                    ("members_edit", "members_edit"),
                    ("members_delete", "members_delete"),
                    ("members_export", "members_export"),
                    ("secrets_reveal", "secrets_reveal"),
                    ("groups_view", "groups_view"),
                    ("groups_edit", "groups_edit"),
                    ("areas_view", "areas_view"),
                    ("rights_edit", "rights_edit"),
                    ("imports_run", "imports_run"),
                    ("building_view", "building_view"),
                    ("guests_view", "guests_view"),
                    ("guests_desk", "guests_desk"),
                    ("guests_manage", "guests_manage"),
                    ("devices_view", "devices_view"),
                    ("doors_operate", "doors_operate"),
                    ("connection_view", "connection_view"),
                    ("connection_manage", "connection_manage"),
                    ("staff_view", "staff_view"),
                    ("staff_manage", "staff_manage"),
                    ("audit_view", "audit_view"),
                    ("support_manage", "support_manage"),
                ],
                max_length=40,
            ),
        ),
    ]
