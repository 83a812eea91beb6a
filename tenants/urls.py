"""This app's pages outside of tenants, included at the root of the site."""

from django.urls import include, path

from tenants import signing
from tenants.connections.views import callback
from tenants.staff import account
from tenants.staff.views import invitation
from tenants.support.urls import platform_urls

urlpatterns = [
    path("platform/", include(platform_urls)),
    path("oauth/<slug:environment>/callback/", callback, name="oauth_callback"),
    path("signing-keys/", signing.public_keys, name="signing_keys"),
    # Must come before allauth's own pages at these addresses.
    path("accounts/sessions/", account.sessions),
    path("accounts/2fa/recovery-codes/download/", account.recovery_codes),
    path("accounts/history/", account.history, name="account_history"),
    path("invitations/<str:token>/", invitation, name="invitation"),
]
