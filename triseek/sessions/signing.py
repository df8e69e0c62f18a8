"""Who made a pack: an Ed25519 signature of its list of checksums, by a key in the state folder.

The list names every other file with its sum, so whoever signs it signs all of them. A signature
says which key it was made with; whether that key is to be trusted is for the user to say, by
keeping its public half among the trusted ones.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from triseek.errors import InvalidRequest, PackRejected, StateUnwritable
from triseek.store import atomic

if TYPE_CHECKING:
    from collections.abc import Iterable

SCHEMA_VERSION = 1
PRIVATE, TRUSTED = "signing.key", "trusted"
_DOMAIN = b"triseek pack 1\n"
"""What is signed begins with this, so that a signature is good for nothing else."""
_SIGNATURE_MAX = 4_096


def sign(checksums: bytes, folder: str | os.PathLike[str]) -> bytes:
    """The signature document of a list of checksums.

    Args:
        checksums: The list.
        folder: Where keys are kept; a key is made there the first time.

    Raises:
        StateUnwritable: No key can be made.
        InvalidRequest: The key that is there makes no sense.
    """
    key = _own(Path(folder))
    document = {
        "schema_version": SCHEMA_VERSION,
        "algorithm": "ed25519",
        "public_key": _hex(key.public_key()),
        "signature": key.sign(_DOMAIN + checksums).hex(),
    }
    return json.dumps(document, indent=1).encode("ascii") + b"\n"


def verify(checksums: bytes, signature: bytes | None, trusted: Iterable[str]) -> str:
    """Check a pack's signature; the public key it was made with, in hex.

    Raises:
        PackRejected: There is none, it does not fit, or its key is not among the trusted ones.
    """
    if signature is None:
        raise PackRejected("the pack is not signed", next_step="Import it without --verify.")
    try:
        name, made = _read(signature[:_SIGNATURE_MAX])
        key = Ed25519PublicKey.from_public_bytes(name)
        key.verify(made, _DOMAIN + checksums)
    except InvalidSignature as error:
        raise PackRejected("the pack's signature does not fit what it holds") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise PackRejected("the pack's signature makes no sense") from error
    if name.hex() not in set(trusted):
        raise PackRejected(
            f"the pack is signed with {name.hex()}, which is not a key you trust",
            next_step="If you know whose it is: `triseek pack trust KEY`, and import it again.",
        )
    return name.hex()


def _read(document: bytes) -> tuple[bytes, bytes]:
    """The public key and the signature of a document."""
    body = json.loads(document)
    if body["schema_version"] != SCHEMA_VERSION or body["algorithm"] != "ed25519":
        raise ValueError("another kind of signature")
    return bytes.fromhex(body["public_key"]), bytes.fromhex(body["signature"])


def public_key(folder: str | os.PathLike[str]) -> str:
    """The public half of this machine's key, in hex; the key is made the first time.

    Raises:
        StateUnwritable: No key can be made.
        InvalidRequest: The key that is there makes no sense.
    """
    return _hex(_own(Path(folder)).public_key())


def trust(folder: str | os.PathLike[str], key: str) -> None:
    """Trust packs signed with a key, given by its public half in hex.

    Raises:
        InvalidRequest: It is no key.
        StateUnwritable: It cannot be kept.
    """
    try:
        name = bytes.fromhex(key.strip())
        Ed25519PublicKey.from_public_bytes(name)
    except ValueError as error:
        raise InvalidRequest(
            f"{key.strip()[:80]!r} is no public key",
            next_step="Give the 64 hex digits that `triseek pack key` prints there.",
        ) from error
    keys = sorted({*_kept(Path(folder)), name.hex()})
    try:
        _made(Path(folder))
        atomic.write(
            Path(folder) / TRUSTED, "".join(f"{one}\n" for one in keys).encode(), mode=0o600
        )
    except OSError as error:
        raise StateUnwritable(f"cannot write {folder}: {error.strerror}") from error


def trusted(folder: str | os.PathLike[str]) -> list[str]:
    """The public keys that are trusted, this machine's own among them if it has one."""
    here = Path(folder)
    own = [public_key(here)] if (here / PRIVATE).exists() else []
    return sorted({*own, *_kept(here)})


def _kept(folder: Path) -> list[str]:
    try:
        return (folder / TRUSTED).read_text("ascii").split()
    except (OSError, ValueError):
        return []


def _own(folder: Path) -> Ed25519PrivateKey:
    path = folder / PRIVATE
    try:
        held = path.read_bytes()
    except FileNotFoundError:
        return _new(folder)
    except OSError as error:
        raise StateUnwritable(f"cannot read {path}: {error.strerror}") from error
    try:
        key = serialization.load_pem_private_key(held, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise _damaged(path) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise _damaged(path)
    return key


def _damaged(path: Path) -> InvalidRequest:
    return InvalidRequest(
        f"{path} holds no Ed25519 key", next_step="Move it away, and a new one is made."
    )


def _new(folder: Path) -> Ed25519PrivateKey:
    key = Ed25519PrivateKey.generate()
    held = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    try:
        _made(folder)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        with os.fdopen(os.open(folder / PRIVATE, flags, 0o600), "wb") as file:
            file.write(held)
            file.flush()
            os.fsync(file.fileno())
        atomic.sync_folder(folder)
    except FileExistsError:
        return _own(folder)  # somebody else was quicker
    except OSError as error:
        raise StateUnwritable(f"cannot write {folder}: {error.strerror}") from error
    return key


def _made(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)


def _hex(key: Ed25519PublicKey) -> str:
    return key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw).hex()
