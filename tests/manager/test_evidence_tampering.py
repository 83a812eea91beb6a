"""Evidence is complete and tamper-evident: any changed bit of an export is found, without the portal."""

import contextlib
import hashlib
import io
import random
import subprocess
import threading
import time
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import botocore.session
import pytest
from moto.server import ThreadedMotoServer

from portal.base.storage import check_export
from portal.base.storage.models import StoredFile
from portal.evidence import exporting
from portal.evidence.models import Export, Item
from tenants.scope import tenant_scope
from tests.support.evidence import checked, exported, opened, public_key, url, work
from tests.support.waiting import PATIENCE


@pytest.fixture
def export(place, manager, tmp_path):
    """Create an export with two videos, as a file, with the public key beside it."""
    opened(place, manager, 2)
    manager.post(url(place, "note", 1), {"text": "鍵は返却済み"})
    work(place)
    path = tmp_path / "incident.zip"
    path.write_bytes(exported(place, manager))
    return path, public_key(tmp_path)


def test_an_unchanged_export_passes_the_program_and_openssl_and_sha256sum_alone(export, tmp_path):
    path, key = export
    code, told = checked(path, key)
    assert (code, told[:9]) == (0, "UNCHANGED")
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path / "out")
    by_openssl = [
        *("openssl", "pkeyutl", "-verify", "-pubin", "-inkey", str(key), "-rawin"),
        *("-in", "manifest.sha256", "-sigfile", "manifest.sha256.sig"),
    ]
    for command in (by_openssl, ["sha256sum", "--quiet", "-c", "manifest.sha256"]):
        done = subprocess.run(command, cwd=tmp_path / "out", capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_the_program_names_the_files_that_were_changed_added_and_taken_away(export, tmp_path):
    path, key = export
    changed = tmp_path / "changed.zip"
    with zipfile.ZipFile(path) as whole, zipfile.ZipFile(changed, "w") as other:
        first, second, *rest = [name for name in whole.namelist() if name.startswith("items") or "html" in name]
        for name in whole.namelist():
            if name != second:
                other.writestr(name, whole.read(name) + (b" " if name == first else b""))
        other.writestr("more.txt", "more")
    code, told = checked(changed, key)
    assert code == 1
    for words in (f"Changed: {first}", f"Missing: {second}", "Added: more.txt", "The file was changed"):
        assert words in told
    assert not any(name in told for name in rest)


def test_a_bit_that_was_changed_inside_a_file_names_it(export, tmp_path):
    path, key = export
    whole = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        inside = archive.getinfo("index.html")
    whole[inside.header_offset + 30 + len(inside.filename) + inside.compress_size // 2] ^= 1
    changed = tmp_path / "changed.zip"
    changed.write_bytes(whole)
    code, told = checked(changed, key)
    assert (code, "Changed: index.html" in told) == (1, True)


def test_any_changed_bit_is_found(export, tmp_path):
    path, key = export
    whole, pem = bytearray(path.read_bytes()), key.read_bytes()
    changed, draw = tmp_path / "changed.zip", random.Random(20261124)
    # The last bytes hold the ZIP's own directory and the signature: bits there are drawn more often than by chance.
    bits = [draw.randrange(len(whole) * 8) for _ in range(500)]
    bits += [draw.randrange(max(len(whole) - 2_000, 0) * 8, len(whole) * 8) for _ in range(len(bits))]
    for bit in bits:
        whole[bit // 8] ^= 1 << bit % 8
        changed.write_bytes(whole)
        with pytest.raises(check_export.Changed):
            check_export.check_seal(changed, pem)
        whole[bit // 8] ^= 1 << bit % 8
    changed.write_bytes(whole)
    check_export.check_seal(changed, pem)


def test_a_file_changed_with_a_new_list_is_found_by_its_signature(export, tmp_path):
    path, key = export
    forged = tmp_path / "forged.zip"
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(forged, "w") as copy:
        for name in archive.namelist():
            content = archive.read(name)
            copy.writestr(name, content.replace("鍵は返却済み".encode(), "鍵は未返却だ".encode()))
    assert checked(forged, key)[0] == 1
    with pytest.raises(check_export.Changed):
        check_export.check_files(forged, key.read_bytes())


def test_another_installations_key_passes_nothing(export, tmp_path):
    path, _key = export
    other = tmp_path / "other.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", tmp_path / "private.pem"], check=True)
    subprocess.run(["openssl", "pkey", "-in", tmp_path / "private.pem", "-pubout", "-out", other], check=True)
    assert checked(path, other)[0] == 1


def test_a_cut_export_and_none_at_all_are_no_success(export, tmp_path):
    path, key = export
    cut = tmp_path / "cut.zip"
    cut.write_bytes(path.read_bytes()[:-1])
    assert checked(cut, key)[0] == 1
    assert checked(tmp_path / "missing.zip", key)[0] == 2


@pytest.fixture
def bucket(settings, monkeypatch):
    """Use a store with the interface of S3 on the loopback for evidence, during a test."""
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    told = {
        "endpoint_url": f"http://{host}:{port}",
        "region_name": "us-east-1",
        "access_key": "access",
        "secret_key": "secret",
    }
    client = botocore.session.get_session().create_client(
        "s3",
        endpoint_url=told["endpoint_url"],
        region_name="us-east-1",
        aws_access_key_id="access",
        aws_secret_access_key="secret",
    )
    client.create_bucket(Bucket="evidence")
    options = {"bucket_name": "evidence", "location": "evidence", "file_overwrite": False, **told}
    ours = {"BACKEND": "storages.backends.s3.S3Storage", "OPTIONS": options}
    settings.STORAGES = settings.STORAGES | {"evidence": ours}
    yield client, server
    client.close()
    server.stop()


def test_a_store_of_s3_holds_noise_and_gives_the_same_back(place, manager, bucket, tmp_path):
    client, _server = bucket
    opened(place, manager)
    work(place)
    with tenant_scope(place.tenant):
        item = Item.objects.select_related("file").get(kind="clip")
    (listed,) = client.list_objects_v2(Bucket="evidence")["Contents"]
    assert b"ftyp" not in client.get_object(Bucket="evidence", Key=listed["Key"])["Body"].read()
    video = b"".join(manager.get(url(place, "file", 1, item.pk)).streaming_content)
    assert video[4:8] == b"ftyp"
    path = tmp_path / "incident.zip"
    path.write_bytes(exported(place, manager))
    assert checked(path, public_key(tmp_path))[0] == 0


def test_a_store_that_is_gone_loses_nothing_and_is_said(place, manager, bucket):
    _client, server = bucket
    opened(place, manager)
    server.stop()
    work(place)
    page = manager.get(url(place, "incident", 1)).content.decode()
    assert "The evidence store is not responding. Retrying." in page
    with tenant_scope(place.tenant):
        assert Item.objects.get(kind="clip").media == "wanted"
        assert StoredFile.objects.filter(delete_at=None).count() == 0


class Authority:
    """An authority for time stamps on the loopback, whose answers openssl creates.

    `instead(authority, handler, asked)` writes a different answer.
    """

    def __init__(self, folder):
        self.folder, self.status, self.leads_to, self.asked, self.sent = folder, 200, "", 0, 0
        self.instead = lambda authority, handler, asked: handler.wfile.write(authority.stamp(asked))
        self.is_over = threading.Event()
        config = folder / "tsa.cnf"
        config.write_text(
            f"[tsa]\ndefault_tsa=t\n[t]\nserial={folder}/serial\nsigner_cert={folder}/cert.pem\n"
            f"signer_key={folder}/key.pem\nsigner_digest=sha256\ndefault_policy=1.2.3.4.1\ndigests=sha256,sha512\n"
            "ess_cert_id_alg=sha256\n"
        )
        (folder / "serial").write_text("01\n")
        self._run(
            *("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-days", "2"),
            *("-subj", "/CN=Authority", "-addext", "extendedKeyUsage=critical,timeStamping"),
        )
        authority = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                authority.asked += 1
                self.send_response(authority.status)
                if authority.leads_to:
                    self.send_header("Location", authority.leads_to)
                self.end_headers()
                with contextlib.suppress(OSError):
                    authority.instead(authority, self, body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stamp(self, asked):
        (self.folder / "asked.tsq").write_bytes(asked)
        self._run("ts", "-reply", "-config", "tsa.cnf", "-section", "t", "-queryfile", "asked.tsq", "-out", "said.tsr")
        return (self.folder / "said.tsr").read_bytes()

    def _run(self, *arguments):
        subprocess.run(["openssl", *arguments], cwd=self.folder, check=True, capture_output=True)


@pytest.fixture
def authority(tmp_path, settings):
    folder = tmp_path / "authority"
    folder.mkdir()
    made = Authority(folder)
    settings.TIME_STAMP_URL = made.url
    yield made
    made.is_over.set()
    made.server.shutdown()
    made.server.server_close()


def test_a_time_stamp_proves_when_the_list_existed(place, manager, authority, tmp_path):
    opened(place, manager)
    work(place)
    archive = zipfile.ZipFile(io.BytesIO(exported(place, manager)))
    archive.extractall(tmp_path / "out")
    assert "openssl ts -verify" in archive.read("CHECK.txt").decode()
    command = ["openssl", "ts", "-verify", "-data", "manifest.sha256", "-in", "manifest.sha256.tsr"]
    command += ["-CAfile", str(authority.folder / "cert.pem")]
    done = subprocess.run(command, cwd=tmp_path / "out", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "time-stamped" in manager.get(url(place, "incident", 1)).content.decode()


def test_an_authority_that_fails_leaves_an_export_that_says_so(place, manager, authority):
    authority.status = 500
    opened(place, manager)
    work(place)
    names = zipfile.ZipFile(io.BytesIO(exported(place, manager))).namelist()
    assert "manifest.sha256.tsr" not in names
    with tenant_scope(place.tenant):
        assert Export.objects.get().stamp == "no_answer"
    page = manager.get(url(place, "incident", 1)).content.decode()
    assert "Without time stamp: the authority did not answer." in page


ASKED = b"a list of digests"
#: The names of algorithms in a question. The authority knows the second one, but not for so short a digest.
SHA256, SHA384 = bytes.fromhex("608648016503040201"), bytes.fromhex("608648016503040202")


def without_end(authority, handler, asked):
    """Send a good answer that never ends."""
    handler.wfile.write(authority.stamp(asked))
    while authority.sent < 64 * 1024 * 1024:
        authority.sent += handler.wfile.write(bytes(64 * 1024))


def drop_by_drop(authority, handler, asked):
    """Send a good answer slowly, with short pauses, for half a minute."""
    handler.wfile.write(authority.stamp(asked))
    end = time.monotonic() + PATIENCE / 4
    while time.monotonic() < end and not authority.is_over.wait(0.1):
        handler.wfile.write(b"\x00")


def test_an_answer_without_end_is_not_read_to_the_end(authority):
    authority.instead = without_end
    with pytest.raises(exporting.NotStamped):
        exporting.request_stamp(ASKED)
    assert authority.sent < 16 * 1024 * 1024  # what the sockets of both sides can buffer


def test_an_answer_that_comes_drop_by_drop_holds_no_worker(authority, monkeypatch):
    monkeypatch.setattr(exporting, "_ANSWER_SECONDS", 1.0)
    authority.instead = drop_by_drop
    began = time.monotonic()
    with pytest.raises(exporting.NotStamped):
        exporting.request_stamp(ASKED)
    assert time.monotonic() - began < PATIENCE / 8


def test_an_answer_about_something_else_is_no_time_stamp(authority):
    digests = [hashlib.sha256(each).digest() for each in (ASKED, b"another list")]
    stamped = exporting.request_stamp(ASKED)
    instead = {
        "of another list": lambda asked: authority.stamp(asked.replace(*digests)),
        "of an earlier question": lambda _asked: stamped,
        "refused": lambda asked: authority.stamp(asked.replace(SHA256, SHA384)),
        "a page": lambda _asked: b"<html>Welcome</html>",
        "empty": lambda _asked: b"",
    }
    for answer in instead.values():
        authority.instead = lambda _authority, handler, asked, answer=answer: handler.wfile.write(answer(asked))
        with pytest.raises(exporting.NotStamped):
            exporting.request_stamp(ASKED)


def test_no_other_place_is_asked_for_a_time_stamp(authority):
    authority.status, authority.leads_to = 307, authority.url
    with pytest.raises(exporting.NotStamped):
        exporting.request_stamp(ASKED)
    assert authority.asked == 1
