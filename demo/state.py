"""The demonstration's stored state between two starts, apart from its databases."""

import json
import secrets
from hashlib import sha256
from pathlib import Path
from typing import Any

from demo.data import PEOPLE, new_password
from stack.paths import private_folder, write_private
from stack.services import new_vault_key


class DemoState:
    """Keys, passwords and the sandbox's identifiers, in one private file of the demonstration's folder.

    A database that is `given` has a separate file: a step done in one database was not done in another.
    """

    def __init__(self, folder: Path, given: str = "") -> None:
        name = f"state-{sha256(given.encode()).hexdigest()[:12]}.json" if given else "state.json"
        self._path = private_folder(folder) / name
        self._kept: dict[str, Any] = json.loads(self._path.read_text()) if self._path.exists() else {}
        self.secret_key: str = self._load_or_create("secret_key", secrets.token_urlsafe(48))
        self.sandbox_key: str = self._load_or_create("sandbox_key", secrets.token_urlsafe(48))
        self.vault_key: str = self._load_or_create("vault_key", new_vault_key())
        known: dict[str, str] = self._kept.get("passwords", {})
        self.passwords = {each.email: known.get(each.email) or new_password() for each in PEOPLE}
        self.save("passwords", self.passwords)

    def _load_or_create(self, name: str, value: str) -> str:
        if name not in self._kept:
            self.save(name, value)
        stored: str = self._kept[name]
        return stored

    def load(self, name: str) -> Any:
        """Return the value with this name; None without one."""
        return self._kept.get(name)

    def save(self, name: str, value: Any) -> None:
        """Store the value under this name at once."""
        self._kept[name] = value
        write_private(self._path, json.dumps(self._kept, indent=2, ensure_ascii=False) + "\n")
