"""All settings of the site, in one place. Values come from the environment through `portal.site.env`."""

import gc
from functools import partial
from pathlib import Path
from typing import Any

from csp.constants import NONE, SELF
from django.utils.translation import gettext_lazy as _

from portal.site import env
from portal.site.log_settings import configure_logging
from tenants.postgresql import timeouts

# With Python's defaults, garbage collection takes a third of a process's start.
gc.set_threshold(50_000, 20, 100)

BASE_DIR = Path(__file__).resolve().parents[2]

# The demo and tests: a site without HTTPS and mails, on a database without durability. Elsewhere the site does not
# start with such settings (`portal.site.startup`).
INSECURE = env.flag("PORTAL_INSECURE")
DEBUG = env.flag("PORTAL_DEBUG")
SECRET_KEY = env.text("SECRET_KEY")
VAULT_KEYS = env.text("VAULT_KEYS")
PORTAL_URL = env.text("PORTAL_URL").rstrip("/")
ALLOWED_HOSTS = env.names("ALLOWED_HOSTS")
REQUIRE_MFA = env.flag("PORTAL_REQUIRE_MFA")
HTTPS = PORTAL_URL.startswith("https://")
# With its port, as a browser names it.
PORTAL_HOST = PORTAL_URL.partition("://")[2].partition("/")[0]

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_htmx",
    "template_partials",
    "csp",
    "django_structlog",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "tenants",
    "portal.base.ui",
    "portal.base.timers",
    "portal.base.restore",
    "portal.base.storage",
    # Apps in `portal.site.apps` have another label than their folder.
    # The order of the apps is the order of the menu, of banners and of the parts of shared pages (their `signals.py`).
    "portal.home",
    "portal.domain.budget",
    "portal.domain.intents",
    "portal.domain.safety",
    "portal.domain.people",
    "portal.domain.places",
    "portal.domain.sync",
    "portal.domain.jobs",
    "portal.domain.rights",
    "portal.domain.visits",
    "portal.domain.history",
    "portal.domain.presence",
    "portal.domain.alerts",
    "portal.domain.cameras",
    "portal.domain.notifications",
    "portal.members",
    "portal.groups",
    "portal.areas",
    "portal.site.apps.RightsPages",
    "portal.explain",
    "portal.guests",
    "portal.expected",
    "portal.codes",
    "portal.today",
    "portal.rollcall",
    "portal.changes",
    "portal.imports",
    "portal.intercom",
    # Before devices: its banner is above those of single doors.
    "portal.lockdown",
    "portal.devices",
    "portal.keys",
    "portal.site.apps.CamerasPages",
    "portal.plans",
    "portal.site.apps.AlertsPages",
    "portal.site.apps.HistoryPages",
    "portal.webhooks",
    "portal.evidence",
    "portal.reports",
    "portal.reviews",
    "portal.guide",
    "portal.site.apps.SiteConfig",
]

MIDDLEWARE = [
    "portal.site.monitoring.count_answers",
    "portal.site.middleware.allow_probes_by_any_host",
    "portal.site.middleware.set_client_address",
    "portal.site.middleware.set_permissions_policy",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "portal.site.middleware.reject_nul",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "portal.site.middleware.RequireSignIn",
    "portal.base.ui.frame.person_language",
    "allauth.account.middleware.AccountMiddleware",
    "allauth.usersessions.middleware.UserSessionsMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "django_structlog.middlewares.RequestMiddleware",
    "portal.site.middleware.prevent_caching",
    "portal.site.middleware.clear_storage_on_sign_out",
    "portal.site.middleware.ReportUnreadableSecrets",
    "portal.site.middleware.pace_polls",
    "portal.site.middleware.mark_invalid_forms",
    "portal.site.middleware.restore_unsent_form",
]
# How static files are served: `manifest` after collectstatic, `finders` straight from the checkout, `none` in tests
# that go through the client, whose speed whitenoise's middleware would halve.
STATIC_FROM = env.choice("PORTAL_STATIC", ("manifest", "finders", "none"))
if STATIC_FROM == "none":
    MIDDLEWARE.remove("whitenoise.middleware.WhiteNoiseMiddleware")

ROOT_URLCONF = "portal.site.urls"
WSGI_APPLICATION = "portal.site.wsgi.application"

_LOADERS = [f"django.template.loaders.{each}.Loader" for each in ("filesystem", "app_directories")]
FORM_RENDERER = "portal.base.ui.inputs.Renderer"
# The tags of an app are in its `tags.py`. Templates load them by the name of its folder; those of an area, whose name
# may be that of a folder of the domain, as "codes_pages".
_TAGS = {
    f"{each.parent.name}{ending}": ".".join((*each.parent.relative_to(BASE_DIR).parts, "tags"))
    for ending, places in (("", "*/*/tags.py"), ("_pages", "*/tags.py"))
    for each in (BASE_DIR / "portal").glob(places)
}
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "loaders": [("template_partials.loader.Loader", [("portal.base.ui.fragment_cache.Loader", _LOADERS)])],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "django.template.context_processors.i18n",
                "portal.base.ui.frame.frame",
            ],
            "libraries": _TAGS,
            "builtins": ["django.templatetags.i18n", "portal.base.ui.tags"],
        },
    }
]

# On solid state disks, which PostgreSQL's default does not assume: without it a search reads whole tables.
_database = partial(env.database, engine="tenants.postgresql", session="-c random_page_cost=1.1")
DATABASES = {"default": _database("DATABASE_URL")}
# The owner of the tables, for `migrate` (tenants/postgresql/grants.py). Empty: the role of DATABASE_URL owns them.
DATABASE_OWNER = _database("DATABASE_OWNER_URL") if env.text("DATABASE_OWNER_URL") else {}
if env.flag("PORTAL_DB_POOL"):  # web processes only: a pool must not be born before a fork
    pool: dict[str, Any] = {"min_size": 1, "max_size": env.number("PORTAL_DB_POOL_SIZE")}
    pool |= {"timeout": timeouts.CONNECT_TIMEOUT_SECONDS, "connection_class": timeouts.ProbingConnection}
    # A pool that goes on trying waits twice as long each time. One that has given up tries anew for the next request.
    pool["reconnect_timeout"] = timeouts.CONNECT_TIMEOUT_SECONDS
    DATABASES["default"]["OPTIONS"]["pool"] = pool
else:
    DATABASES["default"]["CONN_MAX_AGE"] = 600
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env.text("REDIS_URL")
# Limits and used codes are counted in PostgreSQL: sign-in needs it anyway, and nothing here waits for Redis.
CACHES = {"default": {"BACKEND": "tenants.postgresql.cache.PostgresCache"}}
SESSION_ENGINE = "tenants.staff.sessions"

# Sign-in
AUTH_USER_MODEL = "tenants.User"
AUTHENTICATION_BACKENDS = ["tenants.staff.sessions.SignedIn"]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_ADAPTER = "tenants.staff.adapter.AccountAdapter"
ACCOUNT_FORMS = {
    "login": "tenants.staff.forms.SignInForm",
    "reauthenticate": "tenants.staff.forms.ConfirmPasswordForm",
    "change_password": "tenants.staff.forms.NewPasswordForm",
    "reset_password": "tenants.staff.forms.ForgottenPasswordForm",
    "reset_password_from_key": "tenants.staff.forms.ReplacedPasswordForm",
}
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_LOGIN_BY_CODE_ENABLED = False
ACCOUNT_LOGOUT_ON_GET = False
ACCOUNT_SESSION_REMEMBER = None
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_REAUTHENTICATION_TIMEOUT = env.number("PORTAL_REAUTHENTICATION_SECONDS")
# How long a proof counts before actions that decide who has access, for many or for good (`tenants.roles.Proof`).
LONG_PROOF_SECONDS = env.number("PORTAL_LONG_PROOF_SECONDS")
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
# Passwords are counted by `tenants.staff.throttle`; "login_failed" is left for second factors, one person's own.
ACCOUNT_RATE_LIMITS = {"login": None, "login_failed": "5/5m/key", "reauthenticate": "10/m/user"}
# How many wrong passwords within how many seconds. See decision 0028 for what each of them keeps out.
SIGN_IN_LIMITS = {
    "account and address": (5, 300),
    "account": (50, 3600),
    "address": env.rate("PORTAL_SIGN_IN_RATE"),
}
USERSESSIONS_ADAPTER = "tenants.staff.adapter.SessionsAdapter"
USERSESSIONS_TRACK_ACTIVITY = False
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not HTTPS
MFA_FORMS = {
    "activate_totp": "tenants.staff.forms.ActivateAppForm",
    "add_webauthn": "tenants.staff.forms.AddPasskeyForm",
    "authenticate": "tenants.staff.forms.CodeForm",
    "reauthenticate": "tenants.staff.forms.ConfirmCodeForm",
    "authenticate_webauthn": "tenants.staff.forms.PasskeyForm",
    "login_webauthn": "tenants.staff.forms.PasskeySignInForm",
    "reauthenticate_webauthn": "tenants.staff.forms.ConfirmPasskeyForm",
}
MFA_RATE_LIMITS = {"webauthn_login": "120/m/ip"}  # a passkey cannot be guessed: this is against floods only
MFA_ADAPTER = "tenants.staff.adapter.MFAAdapter"
MFA_TOTP_ISSUER = "Access portal"
# The codes of the step before and after count as well: clocks of phones differ, and typing takes time (RFC 6238, 5.2).
MFA_TOTP_TOLERANCE = 1
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation." + name}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]

# Words and time: the service's own offset is fixed at +09:00, and so is the site's.
LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("ja", _("Japanese"))]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "Asia/Tokyo"
FORMAT_MODULE_PATH = "portal.site.formats"

# Files
STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static", ("guide", BASE_DIR / "docs" / "guide" / "pictures")]
STATIC_ROOT = BASE_DIR / env.text("STATIC_ROOT")
# Stored files: files of this machine, or a store with the interface of S3 where a bucket is named.
EVIDENCE_BUCKET = env.text("PORTAL_EVIDENCE_BUCKET")
EVIDENCE_FILES = BASE_DIR / env.text("PORTAL_EVIDENCE_FILES")
TIME_STAMP_URL = env.text("PORTAL_TIME_STAMP_URL")
STORAGES = {
    "evidence": {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": EVIDENCE_BUCKET,
            "endpoint_url": env.text("PORTAL_EVIDENCE_S3_URL") or None,
            "region_name": env.text("PORTAL_EVIDENCE_S3_REGION") or None,
            "access_key": env.text("PORTAL_EVIDENCE_S3_KEY") or None,
            "secret_key": env.text("PORTAL_EVIDENCE_S3_SECRET") or None,
            "location": "evidence",
            "default_acl": None,
            "file_overwrite": False,
        },
    }
    if EVIDENCE_BUCKET
    else {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {
            "location": EVIDENCE_FILES,
            "base_url": None,
            "file_permissions_mode": 0o600,
            "directory_permissions_mode": 0o700,
        },
    },
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if STATIC_FROM == "manifest"
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}
WHITENOISE_MANIFEST_STRICT = False
WHITENOISE_USE_FINDERS = WHITENOISE_AUTOREFRESH = STATIC_FROM == "finders"
DATA_UPLOAD_MAX_MEMORY_SIZE = 5 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5000
FILE_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024

# Browser
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = HTTPS
# With "__Host-", a browser takes the cookie from this very host over HTTPS only: no neighbouring host can plant one.
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME, LANGUAGE_COOKIE_NAME = (
    f"__Host-{name}" if HTTPS else name for name in ("sessionid", "csrftoken", "django_language")
)
# This one is sent to /accounts/ alone, which "__Host-" does not allow.
KNOWN_BROWSER_COOKIE_NAME = "__Secure-known_browser" if HTTPS else "known_browser"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_AGE = 12 * 3600
CSRF_FAILURE_VIEW = "portal.site.views.csrf_failure"
CSRF_TRUSTED_ORIGINS = [PORTAL_URL]
SECURE_SSL_REDIRECT = HTTPS and env.flag("PORTAL_SSL_REDIRECT")
# Probes come from inside: without HTTPS, and under any host name of this machine.
PROBES = ("/healthz", "/readyz", "/metrics")
SECURE_REDIRECT_EXEMPT = [rf"^{path[1:]}$" for path in PROBES]
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if HTTPS else 0
# These two bind other hosts, too, for a year: only the owner of the whole domain can promise that.
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS and env.flag("PORTAL_HSTS_SUBDOMAINS")
SECURE_HSTS_PRELOAD = HTTPS and env.flag("PORTAL_HSTS_PRELOAD")
# `check --deploy` would make every site bind the other hosts of its domain.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
SECURE_REFERRER_POLICY = "same-origin"
BEHIND_PROXY = env.flag("PORTAL_BEHIND_PROXY")
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_PROXY else None
# How many proxies in front of the site add the client's address to X-Forwarded-For.
TRUSTED_PROXIES = env.number("PORTAL_TRUSTED_PROXIES", int(BEHIND_PROXY))
X_FRAME_OPTIONS = "DENY"
_USED = "camera fullscreen clipboard-write screen-wake-lock publickey-credentials-get publickey-credentials-create"
_UNUSED = (
    "geolocation microphone payment usb serial hid midi display-capture accelerometer gyroscope magnetometer"
    " xr-spatial-tracking idle-detection local-fonts window-management clipboard-read"
)
PERMISSIONS_POLICY = ", ".join(
    [f"{each}=(self)" for each in _USED.split()] + [f"{each}=()" for each in _UNUSED.split()]
)
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "manifest-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}

# Jobs: Redis is a doorbell, PostgreSQL holds the work.
CELERY_BROKER_URL = REDIS_URL

# It would believe any header; `portal.site.log_settings.add_address` says where a request comes from.
DJANGO_STRUCTLOG_IP_LOGGING_ENABLED = False
LOGGING = configure_logging(env.text("LOG_LEVEL"))

globals().update(env.mail("EMAIL_URL"))
DEFAULT_FROM_EMAIL = env.text("MAIL_FROM")

# Networks that tenants' web addresses for alerts may lead to although they are not public.
ALERT_NETWORKS = env.networks("PORTAL_ALERT_NETWORKS")

# The bearer token that /metrics requires. Empty: /metrics is closed.
METRICS_TOKEN = env.text("PORTAL_METRICS_TOKEN")

# While this file exists, /readyz reports that the site is being prepared (a first installation, the demo).
PREPARING_FILE = env.text("PORTAL_PREPARING_FILE")

# How many web threads of one process may wait for the service. Beyond that, workers send.
INLINE_SENDS = env.number("PORTAL_INLINE_SENDS")

# A fraction of the usual pauses between two tries, for tests. In production it stays 1: with less, the portal asks the
# database, the service and mail servers more often.
PAUSES = env.fraction("PORTAL_PAUSES", least=0.05)
