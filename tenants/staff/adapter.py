"""How allauth behaves here: nobody signs up by themselves, and its secrets rest in the vault."""

from __future__ import annotations

from allauth.account.adapter import DefaultAccountAdapter
from allauth.mfa.adapter import DefaultMFAAdapter
from django.http import HttpRequest

from tenants import vault

MFA_BINDING = "0|mfa|secret"


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Accounts are made by invitation or by an operator's command only."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False


class MFAAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """TOTP seeds and recovery codes are sealed; passkeys hold public keys only."""

    def encrypt(self, text: str) -> str:
        return vault.seal(text.encode(), bound_to=MFA_BINDING).hex()

    def decrypt(self, encrypted_text: str) -> str:
        return vault.open_sealed(bytes.fromhex(encrypted_text), bound_to=MFA_BINDING).decode()
