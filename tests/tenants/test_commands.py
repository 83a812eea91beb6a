"""The operator's commands: clear messages, nothing half done, and harmless when repeated."""

import io
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from allauth.mfa.models import Authenticator
from django.core.management import CommandError, call_command

from tenants.models import AccountEvent, AccountMail, AuditEntry, Connection, ServiceEnvironment, Staff, Tenant, User
from tenants.scope import tenant_scope
from tests.support.places import PASSWORD, signed_in

OVERRIDES = """
[operations.update_member]
number = 6
method = "POST"
path = "/v1/members/{member_id}/modify"
"""


def run(*arguments):
    said = io.StringIO()
    call_command(*arguments, stdout=said, stderr=said)
    return said.getvalue()


@pytest.fixture
def secret(tmp_path):
    file = tmp_path / "secret"
    file.write_text("the client's secret\n")
    return str(file)


@pytest.fixture
def environment(db, secret):
    run(
        "add_environment",
        "dev",
        "--base-url",
        "http://127.0.0.1:1/",
        "--client-id",
        "c",
        "--client-secret-file",
        secret,
    )
    return ServiceEnvironment.objects.get()


@pytest.fixture
def tenant(environment):
    run("add_tenant", "tokyo", "--name", "東京ビル", "--environment", "dev")
    return Tenant.objects.get()


def test_an_environment_says_which_address_to_register(environment, secret, tmp_path, settings):
    assert environment.client_secret == "the client's secret"
    assert environment.base_url == "http://127.0.0.1:1"
    file = tmp_path / "operations.toml"
    file.write_text(OVERRIDES)
    said = run(
        "add_environment", "dev", "--base-url", "https://127.0.0.1:1", "--client-id", "d",
        "--client-secret-file", secret, "--operations", str(file),
    )  # fmt: skip
    assert "changed" in said
    assert f"{settings.PORTAL_URL}/oauth/dev/callback/" in said
    environment.refresh_from_db()
    assert environment.catalogue.find_by_number(6).path.endswith("/modify")
    assert environment.catalogue.find_by_number(6).method == "POST"


@pytest.fixture
def service():
    """Start a server that refuses requests without a token, as the service does, and stores all requests."""

    class Refuses(BaseHTTPRequestHandler):
        def do_GET(self):
            server.asked.append((self.path, self.headers.get("Authorization")))
            self.send_response(401)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Refuses)
    server.asked = []
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def add(secret, base_url, *more):
    known = ("--client-id", "c", "--client-secret-file", secret)
    return run("add_environment", "dev", "--base-url", base_url, *known, *more)


def test_an_environment_says_whether_its_address_answers(db, secret, service):
    address = f"http://127.0.0.1:{service.server_port}"
    assert f"{address} answers." in add(secret, address)
    assert service.asked == [("/v1/tenant", None)]
    assert f"{address} answers." in run("add_environment", "dev", "--check")


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("http://127.0.0.1:1", "Connection refused"),
        ("https://127.0.0.1:{port}", "SSL"),
        (f"http://{'host' * 16}", "label"),  # longer than a name may be, so that no name server is asked
    ],
)
def test_an_environment_whose_address_does_not_answer_is_saved_and_says_why(db, secret, service, address, reason):
    address = address.format(port=service.server_port)
    said = add(secret, address)
    assert f"Warning: {address} does not answer: " in said
    assert reason in said
    assert ServiceEnvironment.objects.get().base_url == address
    with pytest.raises(CommandError, match=f"{address} does not answer: .*{reason}"):
        run("add_environment", "dev", "--check")


def test_checking_an_environment_changes_nothing(environment, secret):
    with pytest.raises(CommandError, match="--check takes only the name"):
        add(secret, "http://127.0.0.1:2", "--check")
    with pytest.raises(CommandError, match="There is no environment 'other'"):
        run("add_environment", "other", "--check")
    environment.refresh_from_db()
    assert environment.base_url == "http://127.0.0.1:1"


def test_an_environment_needs_its_address_and_its_client(db):
    with pytest.raises(CommandError, match="missing: --client-id, --client-secret-file"):
        run("add_environment", "dev", "--base-url", "http://127.0.0.1:1")
    assert not ServiceEnvironment.objects.exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"--base-url": "ftp://x"}, "base-url"),
        ({"--base-url": "https://user:pass@x"}, "base-url"),
        ({"--client-secret-file": "/nowhere"}, "cannot be read"),
        ({"--operations": "/nowhere"}, "cannot be read"),
        ({"name": "Not A Name"}, "Use lowercase letters a to z, digits and hyphens between them."),
    ],
)
def test_a_bad_environment_is_refused_whole(db, secret, changes, message):
    wanted = {"name": "dev", "--base-url": "https://x", "--client-id": "c", "--client-secret-file": secret} | changes
    name = wanted.pop("name")
    with pytest.raises(CommandError, match=message):
        run("add_environment", name, *[part for pair in wanted.items() for part in pair])
    assert not ServiceEnvironment.objects.exists()


@pytest.mark.parametrize(
    "text", ["not toml [", "[operations.x]\nnumber = 3\npath = '/v1/other'", "[shapes]\nwhat = 1", "[surprise]\na=1"]
)
def test_bad_overrides_are_refused_with_the_reason(environment, secret, tmp_path, text):
    file = tmp_path / "operations.toml"
    file.write_text(text)
    with pytest.raises(CommandError, match="Nothing was changed"):
        run("add_environment", "dev", "--base-url", "https://x", "--client-id", "z", "--client-secret-file", secret,
            "--operations", str(file))  # fmt: skip
    environment.refresh_from_db()
    assert environment.client_id == "c"


@pytest.mark.parametrize("content", ["", "\n", "two\nlines\n"])
def test_a_secret_is_one_line(db, tmp_path, content):
    file = tmp_path / "s"
    file.write_text(content)
    with pytest.raises(CommandError, match="one line"):
        run("add_environment", "dev", "--base-url", "https://x", "--client-id", "z", "--client-secret-file", str(file))


def test_a_tenant_starts_unconnected_and_may_be_renamed(tenant):
    assert "changed" in run("add_tenant", "tokyo", "--name", "New", "--environment", "dev")
    tenant.refresh_from_db()
    assert tenant.name == "New"
    with tenant_scope(tenant):
        assert Connection.objects.get().state == "none"
        assert AuditEntry.objects.count() == 2


@pytest.mark.parametrize(
    ("slug", "environment_name", "message"),
    [
        ("x", "nowhere", "no environment"),
        ("Bad Slug", "dev", "Use lowercase letters a to z, digits and hyphens between them."),
        ("x" * 41, "dev", "40"),
    ],
)
def test_a_bad_tenant_is_refused(environment, slug, environment_name, message):
    with pytest.raises(CommandError, match=message):
        run("add_tenant", slug, "--name", "N", "--environment", environment_name)
    assert not Tenant.objects.exists()


@pytest.mark.parametrize("role", ["facility manager", "facility_manager", "Facility-Manager"])
def test_staff_get_a_role_and_can_sign_in(tenant, tmp_path, role):
    file = tmp_path / "p"
    file.write_text(PASSWORD + "\n")
    said = run("add_staff", "Hana@Example.test", "--role", role, "--tenant", "tokyo", "--password-file", str(file))
    assert "facility manager of tokyo" in said
    user = User.objects.get()
    assert user.email == "hana@example.test"
    assert signed_in(user).get("/t/tokyo/staff/").status_code == 200
    run("add_staff", "hana@example.test", "--role", "auditor", "--tenant", "tokyo")
    with tenant_scope(tenant):
        assert Staff.objects.get().role == "auditor"


@pytest.mark.parametrize(
    ("password", "reason"), [("short", "too short"), ("password123", "too common"), ("hana@example.test", "similar")]
)
def test_a_password_from_a_file_keeps_the_rules_of_the_sites_own_forms(tenant, tmp_path, password, reason):
    file = tmp_path / "p"
    known = ("add_staff", "hana@example.test", "--role", "guard", "--tenant", "tokyo")
    for made in (False, True):
        file.write_text(password + "\n")
        with pytest.raises(CommandError, match=f"{reason}.*Nothing was changed"):
            run(*known, "--password-file", str(file))
        assert User.objects.exists() == made
        run(*known)
    assert not User.objects.get().has_usable_password()


def test_platform_staff_take_no_tenant(tenant):
    run("add_staff", "ops@example.test", "--role", "operator")
    assert User.objects.get().platform_role == "operator"
    for arguments in (
        ("--role", "support", "--tenant", "tokyo"),
        ("--role", "owner"),
        ("--role", "owner", "--tenant", "nowhere"),
        ("--role", "king", "--tenant", "tokyo"),
    ):
        with pytest.raises(CommandError, match="Nothing was changed"):
            run("add_staff", "x@example.test", *arguments)
    with pytest.raises(CommandError, match="not an e-mail"):
        run("add_staff", "nobody", "--role", "support")
    assert User.objects.count() == 1


def test_a_person_who_lost_every_device_starts_over_with_the_password(tenant):
    run("add_staff", "hana@example.test", "--role", "auditor", "--tenant", "tokyo")
    user = User.objects.get()
    client = signed_in(user)
    assert client.get("/t/tokyo/audit/").status_code == 200
    Authenticator.objects.create(user=user, type=Authenticator.Type.WEBAUTHN, data={})
    assert "were removed" in run("remove_second_factors", "Hana@example.test")
    assert not Authenticator.objects.exists()
    assert client.get("/t/tokyo/audit/").status_code == 302
    assert AccountEvent.objects.get().kind == AccountEvent.Kind.FACTOR_REMOVED
    assert AccountMail.objects.get().user == user


@pytest.mark.parametrize("email", ["hana@example.test", "kato@example.test"])
def test_without_an_account_or_a_second_factor_nothing_is_removed(tenant, email):
    run("add_staff", "hana@example.test", "--role", "auditor", "--tenant", "tokyo")
    with pytest.raises(CommandError, match="Nothing was changed"):
        run("remove_second_factors", email)
