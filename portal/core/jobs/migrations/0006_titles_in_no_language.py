from django.db import migrations

from tenants.wording import SaidField


class Migration(migrations.Migration):
    """Titles that are stored already stay as they are: plain texts."""

    dependencies = [("bulk", "0005_suspensions")]

    operations = [migrations.AlterField("job", "title", SaidField(blank=True, default=""))]
