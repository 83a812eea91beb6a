"""The environment variables of the site: what each is for and its default. Read by `portal.site.env`.

`make docs` writes docs/configuration.md from this table (`python -m portal.site.variables`).
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Variable:
    """An environment variable. `default` is None where the site does not start without it.

    `shown_default`: the default in words, where it depends on another variable.
    """

    name: str
    help: str
    default: str | None = ""
    shown_default: str = ""

    @property
    def default_text(self) -> str:
        """Return the default as docs/configuration.md shows it."""
        if self.default is None:
            return "required"
        return self.shown_default or (f"`{self.default}`" if self.default else "none")


DEVELOPMENT = "Development and tests only"

GROUPS: dict[str, tuple[Variable, ...]] = {
    "Services and secrets": (
        Variable(
            "DATABASE_URL",
            "PostgreSQL, as the role that owns no table: `postgresql://user:password@host:5432/name`, with any option "
            "of PostgreSQL (`?sslmode=verify-full`). PgBouncer works only with `pool_mode = session` and "
            "`ignore_startup_parameters = options`",
            None,
        ),
        Variable(
            "DATABASE_OWNER_URL",
            "PostgreSQL, as the owner of the tables. Only for `migrate` and `rotate_vault_keys`; no other process may "
            "have it",
        ),
        Variable("PORTAL_DB_POOL", "1 in web processes: keep a pool of database connections", "0"),
        Variable("PORTAL_DB_POOL_SIZE", "The most connections in the pool of a web process", "16"),
        Variable("REDIS_URL", "Redis or Valkey, with `maxmemory-policy noeviction`", None),
        Variable("SECRET_KEY", "Signs sessions and forms", None),
        Variable(
            "VAULT_KEYS",
            "Keys that encrypt secrets in the database: `id:base64,id:base64`, newest first. "
            "`manage.py rotate_vault_keys` encrypts with the newest",
            None,
        ),
    ),
    "Address and proxy": (
        Variable(
            "PORTAL_URL",
            "The address of the site, with `https://`. The redirect URI for the service is "
            "`PORTAL_URL/oauth/<environment>/callback/`",
            None,
        ),
        Variable(
            "ALLOWED_HOSTS", "Host names that the site answers to, separated by commas", "127.0.0.1,localhost,[::1]"
        ),
        Variable("PORTAL_BEHIND_PROXY", "1 to trust `X-Forwarded-Proto` of the proxy in front of the site", "0"),
        Variable(
            "PORTAL_TRUSTED_PROXIES",
            "How many proxies add to `X-Forwarded-For`. Limits, logs and the audit log then know the client's address",
            "",
            "1 behind a proxy, else 0",
        ),
        Variable("PORTAL_SSL_REDIRECT", "0 to answer `http://` requests without a redirect to `https://`", "1"),
        Variable(
            "PORTAL_HSTS_SUBDOMAINS",
            "1 for HSTS on all hosts below this one, too. Only if every one of them has HTTPS",
            "0",
        ),
        Variable("PORTAL_HSTS_PRELOAD", "1 to allow the site on the HSTS list that browsers ship with", "0"),
    ),
    "Mail": (
        Variable(
            "EMAIL_URL",
            "The mail server for invitations, passwords, account notices, alerts and reports: `smtp://…` or `smtps://…`",
            None,
        ),
        Variable("MAIL_FROM", "The sender of mails", "Access portal <no-reply@localhost>"),
    ),
    "Sign-in": (
        Variable(
            "PORTAL_REQUIRE_MFA",
            "Require a second factor of platform staff and of each role that opens doors, exports personal data or "
            "decides who has access",
            "1",
        ),
        Variable(
            "PORTAL_SIGN_IN_RATE",
            "Wrong passwords from one address by browsers that have not signed in before (s, m or h)",
            "60/m",
        ),
        Variable(
            "PORTAL_REAUTHENTICATION_SECONDS",
            "How long a password or second factor counts before doors, secrets, files of personal data, safety rules, "
            "evidence, staff and the connection",
            "300",
        ),
        Variable(
            "PORTAL_LONG_PROOF_SECONDS",
            "The same before members, rights, imports, bulk changes, reviews and cameras",
            "3600",
        ),
    ),
    "Evidence": (
        Variable("PORTAL_EVIDENCE_FILES", "The folder of encrypted evidence. All processes must share it", ".evidence"),
        Variable("PORTAL_EVIDENCE_BUCKET", "An S3 bucket for evidence, instead of the folder"),
        Variable("PORTAL_EVIDENCE_S3_URL", "The address of the S3 store, if it is not AWS"),
        Variable("PORTAL_EVIDENCE_S3_REGION", "The region of the S3 store"),
        Variable("PORTAL_EVIDENCE_S3_KEY", "The access key of the S3 store"),
        Variable("PORTAL_EVIDENCE_S3_SECRET", "The secret key of the S3 store"),
        Variable(
            "PORTAL_TIME_STAMP_URL",
            "A time stamp authority (RFC 3161) for exports of evidence. Without it, exports have no time stamp",
        ),
    ),
    "Operation": (
        Variable("LOG_LEVEL", "How much is logged", "INFO"),
        Variable("PORTAL_METRICS_TOKEN", "The bearer token that `/metrics` requires. Without it, `/metrics` is closed"),
        Variable(
            "PORTAL_ALERT_NETWORKS",
            "Private networks, such as `10.1.0.0/16`, to which alerts may be posted, on any port",
        ),
        Variable(
            "PORTAL_INLINE_SENDS",
            "How many web threads of one process may wait for the service. Beyond that, workers send",
            "6",
        ),
        Variable("STATIC_ROOT", "The folder that `collectstatic` fills for browsers", "staticfiles"),
    ),
    DEVELOPMENT: (
        Variable(
            "PORTAL_INSECURE",
            "1 for a trial on one machine: allows `http://` in `PORTAL_URL`, and `console:` in `EMAIL_URL`, which "
            "prints mails",
            "0",
        ),
        Variable("PORTAL_DEBUG", "1 for Django's debug pages", "0"),
        Variable(
            "PORTAL_STATIC",
            "How static files are served: `manifest` (after `collectstatic`), `finders` (from the checkout) or `none`",
            "manifest",
        ),
        Variable("PORTAL_PREPARING_FILE", "While this file exists, `/readyz` reports that the site is being prepared"),
        Variable("PORTAL_PAUSES", "A fraction of the usual pauses between two tries, such as `0.1`", "1"),
    ),
}
BY_NAME = {each.name: each for group in GROUPS.values() for each in group}


def describe() -> str:
    """Return docs/configuration.md."""
    lines = [
        "# Configuration",
        "",
        "The site reads these environment variables at start. It does not start with a missing or malformed value: it",
        "names the variable. `make docs` writes this page from `portal/site/variables.py`.",
    ]
    for title, group in GROUPS.items():
        lines += ["", f"## {title}", "", "| Variable | For | Default |", "|---|---|---|"]
        lines += [f"| `{each.name}` | {each.help} | {each.default_text} |" for each in group]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    print(describe(), end="")
