from django.db import migrations, models

# A door that is alarming or held because the log or a command told it has the moment from there. Since when readings
# showed a door unlocked is kept together with whether they saw the change.
_CARRY_OVER = """
SELECT set_config('portal.across', 'on', true);
UPDATE mirror_passcontroller SET is_since_seen = true
    WHERE told ? 'alarm' AND state IN ('forced_open', 'left_open') OR told ? 'lock' AND state IN ('held', 'held_open');
UPDATE mirror_passcontroller SET told = jsonb_set(told, '{unlocked}', jsonb_build_array(told -> 'unlocked', false))
    WHERE jsonb_typeof(told -> 'unlocked') = 'string';
SELECT set_config('portal.across', '', true);
"""
_CARRY_BACK = """
SELECT set_config('portal.across', 'on', true);
UPDATE mirror_passcontroller SET told = jsonb_set(told, '{unlocked}', told -> 'unlocked' -> 0)
    WHERE jsonb_typeof(told -> 'unlocked') = 'array';
SELECT set_config('portal.across', '', true);
"""


class Migration(migrations.Migration):
    dependencies = [
        ("mirror", "0002_what_the_owner_does"),
        ("tenants", "0005_counts_survive_a_crash"),
    ]

    operations = [
        migrations.AddField(
            model_name="passcontroller",
            name="is_since_seen",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AlterField(
            model_name="passcontroller",
            name="state",
            field=models.CharField(
                blank=True,
                choices=[
                    ("forced_open", "Forced Open"),
                    ("left_open", "Left Open"),
                    ("held_open", "Held Open"),
                    ("held", "Held"),
                    ("offline", "Offline"),
                    ("open", "Open"),
                    ("unlocked", "Unlocked"),
                    ("passing", "Passing"),
                    ("locked", "Locked"),
                    ("", "Unknown"),
                ],
                db_default="",
                default="",
                max_length=12,
            ),
        ),
        migrations.RunSQL(_CARRY_OVER, _CARRY_BACK),
        migrations.AddIndex(
            model_name="passcontroller",
            index=models.Index(
                condition=models.Q(("urgent", True), ("state", "passing"), _connector="OR"),
                fields=["look_at"],
                name="mirror_passcontroller_soon",
            ),
        ),
    ]
