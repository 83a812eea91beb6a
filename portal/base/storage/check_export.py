#!/usr/bin/env python3
"""Check a signed file: python3 check_export.py EXPORT.zip KEY.pem

Needs Python 3.10 and either the package `cryptography` or the program `openssl` (3.0 or newer), and nothing else.
KEY.pem is the public key of the installation that created the export. Get it from that installation or its operator,
not from the export. Exits with 0 if nothing was changed, 1 if anything was changed, 2 if it could not be checked.
"""

import base64
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

load_pem_public_key: Any
try:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key
except ImportError:
    load_pem_public_key = None

# The length of a signature, and a prefix for the signature of the whole file, so that a manifest's never fits.
TAIL, SEAL = 64, b"access-portal export\n"
MANIFEST, SIGNATURE, STAMP = "manifest.sha256", "manifest.sha256.sig", "manifest.sha256.tsr"
PIECE = 1024 * 1024


class Changed(Exception):
    """The error for an export that is not as signed; the text names the changed parts."""


class NotChecked(Exception):
    """The error for a missing or wrong key, or without a program that can check signatures."""


def is_signed(key: bytes, message: bytes, signature: bytes) -> bool:
    """Return whether `signature` was made for `message` with this key; `key` is the content of a PEM file."""
    if load_pem_public_key is None:
        return by_openssl(key, message, signature)
    try:
        public = load_pem_public_key(key)
    except ValueError:
        raise NotChecked("The key is no PEM file.") from None
    if not isinstance(public, Ed25519PublicKey):
        raise NotChecked("The key is not an Ed25519 key.")
    try:
        public.verify(signature, message)
    except InvalidSignature:
        return False
    return True


def by_openssl(key: bytes, message: bytes, signature: bytes) -> bool:
    """Return the same with the program openssl."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("key", "message", "signature")]
        for path, content in zip(paths, (key, message, signature), strict=True):
            path.write_bytes(content)
        command = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", str(paths[0]), "-rawin"]
        command += ["-in", str(paths[1]), "-sigfile", str(paths[2])]
        try:
            done = subprocess.run(command, capture_output=True, check=False)
        except OSError:
            raise NotChecked("Neither the package cryptography nor the program openssl is there.") from None
    if done.returncode and b"Signature Verification Failure" not in done.stdout + done.stderr:
        raise NotChecked(done.stderr.decode(errors="replace").strip() or "openssl could not check the signature.")
    return not done.returncode


def check_seal(path: Path, key: bytes) -> None:
    """Check the signature of the whole file. Raises Changed."""
    digest, left = hashlib.sha256(), path.stat().st_size - TAIL
    if left <= 0:
        raise Changed("The file is too short.")
    with path.open("rb") as file:
        while left:
            piece = file.read(min(PIECE, left))
            digest.update(piece)
            left -= len(piece)
        signature = file.read()
    if not is_signed(key, SEAL + digest.digest(), signature):
        raise Changed("The file was changed, or was signed with another key.")


def check_files(path: Path, key: bytes) -> int:
    """Check the list of files, its signature, and each file.

    Return the number of files. Raises Changed with all names.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = archive.read(MANIFEST)
            wrong = [] if is_signed(key, manifest, archive.read(SIGNATURE)) else [f"Changed: {MANIFEST}"]
            lines = [line.partition("  ") for line in manifest.decode().splitlines()]
            listed = {name: digest for digest, _space, name in lines}
            present = set(archive.namelist()) - {MANIFEST, SIGNATURE, STAMP}
            wrong += [f"Added: {name}" for name in sorted(present - set(listed))]
            wrong += [f"Missing: {name}" for name in sorted(set(listed) - present)]
            wrong += [
                f"Changed: {name}" for name in listed if name in present and not is_same(archive, name, listed[name])
            ]
    except NotChecked:
        raise
    except Exception as error:  # reading a damaged ZIP can raise any exception
        raise Changed(f"The file is damaged: {error}") from None
    if wrong:
        raise Changed("\n         ".join(wrong))
    return len(listed)


def is_same(archive: zipfile.ZipFile, name: str, listed_digest: str) -> bool:
    """Return whether a file of the archive is readable and has this digest."""
    digest = hashlib.sha256()
    try:
        with archive.open(name) as file:
            for piece in iter(lambda: file.read(PIECE), b""):
                digest.update(piece)
    except Exception:  # reading a damaged file can raise any exception
        return False
    return digest.hexdigest() == listed_digest


def check(path: Path, key: bytes) -> int:
    """Check the whole export. Return the number of files. Raises Changed with the files that were changed."""
    try:
        check_seal(path, key)
    except Changed as whole:
        try:
            check_files(path, key)
        except Changed as files:
            raise Changed(f"{files}\n         {whole}") from None
        raise Changed(f"{whole} Its files are as listed: the change is outside them.") from None
    return check_files(path, key)


def main(arguments: list[str]) -> int:
    """Check the export and print the result. Return the exit code."""
    if len(arguments) != 2:
        print(__doc__)
        return 2
    try:
        path, key = Path(arguments[0]), Path(arguments[1]).read_bytes()
        count = check(path, key)
    except Changed as why:
        print(f"CHANGED  {why}")
        return 1
    except (NotChecked, OSError) as why:
        print(f"NOT CHECKED  {why}")
        return 2
    print(f"UNCHANGED  {count} files, signed with the key {hashlib.sha256(_raw(key)).hexdigest()[:32]}")
    return 0


def _raw(key: bytes) -> bytes:
    """Return the 32 bytes of a public key in PEM: the end of its base64."""
    lines = [line for line in key.decode().splitlines() if line and not line.startswith(("-", "#"))]
    return base64.b64decode("".join(lines))[-32:]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
