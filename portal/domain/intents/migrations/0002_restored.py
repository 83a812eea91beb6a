from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("intents", "0001_tables"),
    ]

    operations = [
        migrations.AlterField(
            model_name="intent",
            name="reason",
            field=models.CharField(
                blank=True,
                choices=[
                    ("", ""),
                    ("too_late", "More than 15 seconds passed since the click."),
                    ("rights", "The person who requested it no longer has permission."),
                    ("connection", "The connection to the service is not working."),
                    ("licence", "No licence key for remote operation is stored."),
                    ("newer", "Replaced by a newer command for the same door."),
                    ("budget", "No API calls left this hour."),
                    ("stopped", "Stopped by a person."),
                    ("not_sent", "The service could not be reached."),
                    ("invalid", "Not sent: outside the service's limits."),
                    ("timed_out", "The service did not respond in time."),
                    ("lost", "The connection was lost before the response arrived."),
                    ("fault", "The service reported an error."),
                    ("unreadable", "The service's response could not be read."),
                    ("process", "Sending was interrupted before the response was recorded."),
                    ("unfollowed", "The service did not report a result in time."),
                    ("refused", "Refused by the service."),
                    ("absent", "A later check showed that it was not applied."),
                    ("decided", "Decided by a person."),
                    ("step_before", "Waiting for the previous step."),
                    ("step_missing", "The previous step was not completed."),
                    ("restored", "The portal's data was restored from a backup. It may have been sent before."),
                    ("request_failed", "The service accepted it, then reported a failure."),
                ],
                default="",
                max_length=20,
            ),
        ),
    ]
