from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("mirror", "0010_staged_differences")]

    operations = [
        migrations.RemoveIndex(model_name="member", name="mirror_member_of_group"),
        migrations.AddIndex(
            model_name="member",
            index=models.Index(
                fields=["tenant", "membergroup_id", "name_key", "id"],
                name="mirror_member_of_group",
                condition=Q(gone_at__isnull=True),
            ),
        ),
    ]
