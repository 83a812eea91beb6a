"""The credentials file: the identities that the suite uses, and what their tenants have. See docs/contract.md."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from accessapi.encoding import is_header_value

CONTRACTS = ("door", "key_box", "qr", "face", "licence")


class CredentialsError(ValueError):
    """The file cannot be used; the text reports where and why."""


@dataclass(frozen=True)
class Tenant:
    """One tenant: its token, licence key, contracts, and allowed actions.

    `cameras` are identifiers of cameras, which the interface does not list.
    """

    access_token: str = field(repr=False)
    license_key: str = field(repr=False, default="")
    contracts: tuple[str, ...] = ()
    mock_devices: bool = False
    cameras: tuple[str, ...] = ()


@dataclass(frozen=True)
class OAuthClient:
    """A registered client and, optionally, two fresh authorization codes of it: one to use, one to waste."""

    client_id: str
    client_secret: str = field(repr=False)
    redirect_uri: str
    code: str = field(repr=False, default="")
    spare_code: str = field(repr=False, default="")


@dataclass(frozen=True)
class Credentials:
    """The whole file."""

    tenants: tuple[Tenant, ...]
    oauth: OAuthClient | None = None

    @property
    def secrets(self) -> list[str]:
        """Return everything that a report must not show."""
        found = [text for tenant in self.tenants for text in (tenant.access_token, tenant.license_key)]
        if self.oauth:
            found += [self.oauth.client_secret, self.oauth.code, self.oauth.spare_code]
        return [text for text in found if text]


def load(path: Path) -> Credentials:
    """Return the credentials in the TOML file at `path`. Raises CredentialsError."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CredentialsError(f"{path} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise CredentialsError(f"{path} is not UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise CredentialsError(f"{path} is not TOML: {error}") from None
    return read(data)


def read(data: dict[str, Any]) -> Credentials:
    """Return the credentials in a TOML document. Raises CredentialsError."""
    _known(data, "the file", {"tenants", "oauth"})
    tables = data.get("tenants")
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise CredentialsError("the file needs one table [[tenants]] at least")
    tenants = tuple(_tenant(table, f"[[tenants]] number {number}") for number, table in enumerate(tables, 1))
    oauth = data.get("oauth")
    if oauth is not None and not isinstance(oauth, dict):
        raise CredentialsError("oauth must be a table: [oauth]")
    return Credentials(tenants, _oauth(oauth) if oauth is not None else None)


def _tenant(table: dict[str, Any], where: str) -> Tenant:
    _known(table, where, {"access_token", "license_key", "contracts", "mock_devices", "cameras"})
    contracts = _words(table, "contracts", where)
    if strange := [name for name in contracts if name not in CONTRACTS]:
        raise CredentialsError(f"{where}: {strange[0]!r} is no contract; there are {', '.join(CONTRACTS)}")
    mock_devices = table.get("mock_devices", False)
    if not isinstance(mock_devices, bool):
        raise CredentialsError(f"{where}: mock_devices must be true or false")
    cameras = _words(table, "cameras", where)
    token = _secret(table, "access_token", where, required=True)
    return Tenant(token, _secret(table, "license_key", where), contracts, mock_devices, cameras)


def _oauth(table: dict[str, Any]) -> OAuthClient:
    where = "[oauth]"
    _known(table, where, {"client_id", "client_secret", "redirect_uri", "code", "spare_code"})
    values = {name: _text(table, name, where, required=True) for name in ("client_id", "client_secret", "redirect_uri")}
    codes = {name: _secret(table, name, where) for name in ("code", "spare_code")}
    return OAuthClient(**values, **codes)


def _text(table: dict[str, Any], name: str, where: str, *, required: bool = False) -> str:
    value = table.get(name, "")
    if not isinstance(value, str):
        raise CredentialsError(f"{where}: {name} must be a string")
    if required and not value:
        raise CredentialsError(f"{where}: {name} is missing")
    return value


def _secret(table: dict[str, Any], name: str, where: str, *, required: bool = False) -> str:
    value = _text(table, name, where, required=required)
    if value and not is_header_value(value):
        raise CredentialsError(f"{where}: {name} holds characters that cannot be sent")
    return value


def _words(table: dict[str, Any], name: str, where: str) -> tuple[str, ...]:
    value = table.get(name, [])
    if not isinstance(value, list) or not all(isinstance(word, str) and word for word in value):
        raise CredentialsError(f"{where}: {name} must be a list of strings")
    return tuple(dict.fromkeys(value))


def _known(table: dict[str, Any], where: str, names: set[str]) -> None:
    if strange := sorted(set(table) - names):
        raise CredentialsError(f"{where}: {strange[0]!r} is not known here; there are {', '.join(sorted(names))}")
