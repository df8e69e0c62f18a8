"""Signatures of packs: Ed25519 over the list of checksums, with a key in the state folder.

The list has every other file with its checksum, so its signature covers all of them. A signature
says which key made it. The user decides which keys to trust, by keeping their public halves among
the trusted ones.

The time and the receiver are not signed: an old pack from a trusted sender stays valid. A pack
that is imported under another id, because its own is taken, is no longer what was signed. No
signature is kept of any import: it says who made a file, and a snapshot is no longer that file.

Keys are read as ssh reads them: not through links, and only if nobody else can write them, or read
the private one.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from triseek import private
from triseek.errors import InvalidRequest, PackRejected, StateUnwritable
from triseek.model.session import is_ours
from triseek.store import atomic

if TYPE_CHECKING:
    from collections.abc import Iterable

SCHEMA_VERSION = 1
PRIVATE, TRUSTED = "signing.key", "trusted"
_DOMAIN = b"triseek pack 1\n"
"""The signed bytes begin with this, so that a signature is good for nothing else."""
_SIGNATURE_MAX = 4_096
_FILE_MAX = 1 << 20
"""Bytes of a file of keys."""
_KEY, _SIGNED = re.compile(r"[0-9a-f]{64}"), re.compile(r"[0-9a-f]{128}")


def sign(checksums: bytes, folder: str | os.PathLike[str]) -> bytes:
    """Return the signature document of a list of checksums.

    Args:
        checksums: The list.
        folder: The folder of keys; a key is made there the first time.

    Raises:
        StateUnwritable: No key can be made.
        InvalidRequest: The key that is there is damaged.
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
    """Check a pack's signature; return the public key it was made with, in hex.

    Raises:
        PackRejected: There is none, it does not fit, or its key is not among the trusted ones.
    """
    if signature is None:
        raise PackRejected("the pack is not signed", next_step="Import it without --verify.")
    try:
        name, signed = _read(signature[:_SIGNATURE_MAX])
        key = Ed25519PublicKey.from_public_bytes(name)
        key.verify(signed, _DOMAIN + checksums)
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
    """Return the public key and the signature of a document."""
    body = json.loads(document)
    if not is_ours(body["schema_version"]) or body["algorithm"] != "ed25519":
        raise ValueError("another kind of signature")
    key, signature = body["public_key"], body["signature"]
    if not _KEY.fullmatch(key) or not _SIGNED.fullmatch(signature):
        raise ValueError("no signature")
    return bytes.fromhex(key), bytes.fromhex(signature)


def public_key(folder: str | os.PathLike[str]) -> str:
    """Return the public half of this machine's key, in hex; the key is made the first time.

    Raises:
        StateUnwritable: No key can be made.
        InvalidRequest: The key that is there is damaged.
    """
    return _hex(_own(Path(folder)).public_key())


def trust(folder: str | os.PathLike[str], key: str) -> None:
    """Trust packs signed with a key, given by its public half in hex.

    Raises:
        InvalidRequest: It is not a key, or the trusted keys cannot be read safely.
        StateUnwritable: The trusted keys cannot be written.
    """
    name = key.strip().lower()
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(name if _KEY.fullmatch(name) else ""))
    except ValueError as error:
        raise InvalidRequest(
            f"{key.strip()[:80]!r} is no public key",
            next_step="Give the 64 hex digits that `triseek pack key` prints there.",
        ) from error
    here = Path(folder)
    lines = _lines(here)
    if name in _names(lines):
        return
    try:
        private.make(here)
        content = "".join(f"{line}\n" for line in (*lines, name))  # keeps remarks
        atomic.write(here / TRUSTED, content.encode())
    except OSError as error:
        raise StateUnwritable(f"cannot write {folder}: {error.strerror}") from error


def trusted(folder: str | os.PathLike[str]) -> list[str]:
    """Return the public keys that are trusted, including this machine's own if it has one.

    Raises:
        InvalidRequest: They cannot be read safely, or are damaged.
        StateUnwritable: They cannot be read.
    """
    here = Path(folder)
    own = [public_key(here)] if os.path.lexists(here / PRIVATE) else []
    return sorted({*own, *_names(_lines(here))})


def _lines(folder: Path) -> list[str]:
    """Return the lines of the file of trusted keys."""
    content = _safely(folder, TRUSTED, 0o022)
    try:
        return (content or b"").decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise InvalidRequest(
            f"{folder / TRUSTED} is no text", next_step="Move it away, and trust the keys again."
        ) from error


def _names(lines: Iterable[str]) -> set[str]:
    """Return the keys: the first word of each line. Any other line is a remark."""
    words = (line.split()[:1] for line in lines)
    return {word.lower() for first in words for word in first if _KEY.fullmatch(word.lower())}


def _safely(folder: Path, name: str, forbidden: int) -> bytes | None:
    """Read a file of the folder of keys that nobody else can have written; None if it is missing.

    forbidden: permission bits that the file must not have.
    """
    path = folder / name
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        what = "is a link" if path.is_symlink() else error.strerror
        raise StateUnwritable(f"cannot read {path}: {what}") from error
    try:
        for place, info, bits in (
            (folder, folder.stat(), 0o022), (path, os.fstat(descriptor), forbidden),
        ):  # fmt: skip
            if info.st_mode & bits or info.st_uid not in (os.geteuid(), 0):
                raise InvalidRequest(
                    f"others can change {place}, or read it",
                    next_step=f"Make sure that it is as it was, then: chmod go-rwx {place}",
                )
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise _damaged(path)
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(_FILE_MAX)
    finally:
        os.close(descriptor)


def _own(folder: Path) -> Ed25519PrivateKey:
    pem = _safely(folder, PRIVATE, 0o077)
    if pem is None:
        _make(folder)
        pem = _safely(folder, PRIVATE, 0o077)  # this one, or that of a faster process
    try:
        key = serialization.load_pem_private_key(pem or b"", password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise _damaged(folder / PRIVATE) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise _damaged(folder / PRIVATE)
    return key


def _damaged(path: Path) -> InvalidRequest:
    return InvalidRequest(
        f"{path} holds no Ed25519 key", next_step="Move it away, and a new one is made."
    )


def _make(folder: Path) -> None:
    """Make a key, complete or not at all; an existing key is never replaced."""
    pem = Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    aside = folder / f"{PRIVATE}.{secrets.token_hex(8)}.partial"
    try:
        private.make(folder)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        with os.fdopen(os.open(aside, flags, 0o600), "wb") as file:
            file.write(pem)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(aside, folder / PRIVATE)  # unlike a rename, it replaces nothing
        atomic.sync(folder)
    except OSError as error:
        raise StateUnwritable(f"cannot write {folder}: {error.strerror}") from error
    finally:
        aside.unlink(missing_ok=True)


def _hex(key: Ed25519PublicKey) -> str:
    return key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw).hex()
