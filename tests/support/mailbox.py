"""A mail server on this machine that accepts mail, refuses it or does not answer, as a test wants."""

import email
import email.policy
import socketserver
import threading
from email.message import EmailMessage
from types import TracebackType
from typing import Self


class Mailbox(socketserver.ThreadingTCPServer):
    """A mail server, used as a context manager. `refuses` is the answer to each recipient.

    While `held` is set, no message is confirmed. `mails` are those that arrived complete, even if the sender got no
    confirmation. `visits` counts all connections.
    """

    daemon_threads = allow_reuse_address = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Session)
        self.mails: list[EmailMessage] = []
        self.visits = 0
        self.refuses = ""
        self.held = threading.Event()
        self.url = f"smtp://127.0.0.1:{self.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.held.clear()
        self.shutdown()
        self.server_close()

    @property
    def to(self) -> list[str]:
        return sorted(str(each["To"]) for each in self.mails)


class _Session(socketserver.StreamRequestHandler):
    server: Mailbox

    def handle(self) -> None:
        self.server.visits += 1
        self._say("220 mail.example.test")
        while line := self.rfile.readline():
            word = line[:4].upper()
            if word == b"QUIT":
                return self._say("221 bye")
            if word == b"DATA":
                self._take()
            elif word == b"RCPT" and self.server.refuses:
                self._say(self.server.refuses)
            else:
                self._say("250 ok")
        return None

    def _take(self) -> None:
        self._say("354 go on")
        lines = []
        while (line := self.rfile.readline()) not in (b".\r\n", b""):
            lines.append(line.removeprefix(b"."))
        parsed = email.message_from_bytes(b"".join(lines), policy=email.policy.default)
        assert isinstance(parsed, EmailMessage)
        self.server.mails.append(parsed)
        while self.server.held.is_set():
            threading.Event().wait(0.02)
        self._say("250 taken")

    def _say(self, text: str) -> None:
        try:
            self.wfile.write(f"{text}\r\n".encode())
        except OSError:
            self.connection.close()
