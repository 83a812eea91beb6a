"""Register the stored sentences about the webhook."""

from django.utils.translation import gettext_lazy

from tenants.sentences import register_sentences

register_sentences(
    {
        "webhook.on": gettext_lazy("Switch on the webhook"),
        "webhook.off": gettext_lazy("Switch off the webhook"),
        "webhook.categories": gettext_lazy("Change the webhook categories"),
        "webhook.secret": gettext_lazy("Renew the webhook secret"),
        "webhook.address": gettext_lazy("Renew the webhook address"),
        "alert_kind.silence": gettext_lazy("Webhook silent"),
        "webhook.leave": gettext_lazy("Webhook switched off in the portal alone"),
        "webhook.test": gettext_lazy("Test of the webhook started"),
        "webhook.reveal": gettext_lazy("Webhook address shown"),
        "connection.webhook_secret_stored": gettext_lazy("Webhook secret stored"),
        "connection.webhook_secret_removed": gettext_lazy("Webhook secret removed"),
    }
)
