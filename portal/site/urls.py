"""The site's URLs. URLs below /t/<tenant>/ belong to that tenant only."""

from django.urls import include, path

from portal.base.storage.signed_archive import check_program
from portal.base.ui import url_lookup
from portal.base.ui.urls import urls_of_tenant
from portal.codes.views import guest_code
from portal.domain.history.views import load_days
from portal.domain.sync.views import refresh
from portal.home.views import landing
from portal.site import monitoring, views
from portal.webhooks.urls import settings_urls as webhook_urls
from tenants.staff.urls import roles_urls

url_lookup.register()

# Receptionists' pages are below one path. They come from four areas of work.
desk = [
    path("", include("portal.today.urls")),
    path("", include("portal.expected.urls")),
    path("", include("portal.codes.urls")),
    path("", include("portal.guests.urls")),
]
# Requests to read from the service.
readings = [path("refresh/<slug:kind>/", refresh, name="refresh"), path("days/", load_days, name="days")]
areas = [
    path("", include("portal.home.urls")),
    path("", include(urls_of_tenant)),
    path("", include("portal.rights.urls")),
    path("members/", include("portal.members.urls")),
    path("groups/", include("portal.groups.urls")),
    path("areas/", include("portal.areas.urls")),
    path("explain/", include("portal.explain.urls")),
    path("changes/", include("portal.changes.urls")),
    path("guests/", include((desk, "guests"))),
    path("roll-call/", include("portal.rollcall.urls")),
    path("imports/", include("portal.imports.urls")),
    path("devices/", include("portal.devices.urls")),
    path("lockdown/", include("portal.lockdown.urls")),
    path("keys/", include("portal.keys.urls")),
    path("plans/", include("portal.plans.urls")),
    path("cameras/", include("portal.cameras.urls")),
    path("intercom/", include("portal.intercom.urls")),
    path("evidence/", include("portal.evidence.urls")),
    path("logs/", include("portal.history.urls")),
    path("alerts/", include("portal.alerts.urls")),
    path("reviews/", include("portal.reviews.urls")),
    path("reports/", include("portal.reports.urls")),
    path("intents/", include("portal.domain.intents.urls")),
    path("mirror/", include((readings, "mirror"))),
    path("connection/webhook/", include((webhook_urls, "webhook"))),
    path("connection/", include("tenants.connections.urls")),
    path("staff/", include("tenants.staff.urls")),
    path("roles/", include(roles_urls)),
    path("support/", include("tenants.support.urls")),
    path("safety/", include("portal.domain.safety.urls")),
    path("restore/", include("portal.base.restore.urls")),
    path("audit/", include("tenants.audit_log.urls")),
]

urlpatterns = [
    path("healthz", monitoring.alive, name="healthz"),
    path("readyz", monitoring.ready, name="readyz"),
    path("metrics", monitoring.metrics, name="metrics"),
    path("t/<slug:tenant>/", include(areas)),
    # The page on a guest's phone. The token has the tenant in encrypted form.
    path("g/<str:token>/", guest_code, name="guest_code"),
    # The service posts notifications here. The tenant is found by the token's digest.
    path("hooks/", include("portal.webhooks.urls")),
    # A program to check signed exports, for people without an account.
    path("signing-keys/check_export.py", check_program, name="check_program"),
    path("", include("tenants.urls")),
    path("", include("portal.base.ui.urls")),
    path("help/", include("portal.guide.urls")),
    path("", landing, name="landing"),
    # An account's e-mail address is the invited one. There is no page to change it.
    path("accounts/email/", views.raise_not_found),
    path("accounts/", include("allauth.urls")),
]

handler403 = "portal.site.views.forbidden"
handler404 = "portal.site.views.not_found"
handler429 = "portal.site.views.too_many_requests"  # used by allauth
handler500 = "portal.site.views.server_error"
handler400 = "portal.site.views.bad_request"
