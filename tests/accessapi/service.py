"""A loopback server that does exactly one thing per connection, and stores every byte it receives."""

import contextlib
import socket
import struct
import threading

from accessapi.client import Client
from accessapi.overrides import Catalogue
from tests.support.waiting import until

TOKEN, LICENCE = "canary-token-7f3a", "canary-licence-91bc"


def answer(status=200, body=b"{}", headers=()):
    head = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", *headers]
    return ("\r\n".join(head) + "\r\n\r\n").encode() + body


class Loopback:
    """A server that calls `behave(connection, request)` with each request's head and body, and counts connections."""

    def __init__(self, behave):
        self._behave = behave
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open = []
        self.connections = 0
        self.ended = 0  # connections that the other side has closed
        self.received = []
        self._thread = threading.Thread(target=self._accept, daemon=True)

    @property
    def url(self):
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        # shutdown wakes the accepting thread; close alone would leave it waiting
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection, thread in self._open:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            thread.join(5)
            connection.close()
        self._thread.join(5)

    def counts(self, connections, *, within=60):
        """Check that there will be exactly that many connections. Waits, because another thread counts them."""
        until(lambda: self.connections >= connections, within, pause=0.005)
        return self.connections == connections

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            self._open.append((connection, thread))
            thread.start()

    def _serve(self, connection):
        with contextlib.suppress(OSError):
            while request := self._request(connection):
                self.received.append(request)
                if self._behave(connection, request) == "close":
                    connection.shutdown(socket.SHUT_RDWR)
                    return
        self.ended += 1

    def _request(self, connection):
        data = b""
        while b"\r\n\r\n" not in data:
            chunk = connection.recv(65536)
            if not chunk:
                return data
            data += chunk
        head, _, body = data.partition(b"\r\n\r\n")
        length = next(
            (int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0
        )
        while len(body) < length:
            body += connection.recv(65536)
        return head + b"\r\n\r\n" + body


def reset(connection):
    """Close with RST instead of FIN."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def client(url, **kwargs):
    kwargs.setdefault("catalogue", Catalogue())
    return Client(base_url=url, token=lambda: TOKEN, licence_key=lambda: LICENCE, **kwargs)
