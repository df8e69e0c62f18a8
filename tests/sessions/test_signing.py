"""A signature says who made a pack, and nothing that was changed afterwards."""

from __future__ import annotations

import json

import pytest

from tests.sessions.snapshots import Kept
from triseek.errors import InvalidRequest, PackRejected
from triseek.sessions import pack, signing

SUMS = b"00  manifest.json\n"


@pytest.fixture
def keys(tmp_path):
    return tmp_path / "state" / "keys"


def test_what_was_signed_here_is_trusted_here_and_nowhere_else(keys, tmp_path):
    signature = signing.sign(SUMS, keys)

    assert signing.verify(SUMS, signature, signing.trusted(keys)) == signing.public_key(keys)
    there = tmp_path / "there"
    with pytest.raises(PackRejected, match="not a key you trust"):
        signing.verify(SUMS, signature, signing.trusted(there))
    signing.trust(there, f" {signing.public_key(keys)}\n")
    assert signing.verify(SUMS, signature, signing.trusted(there))
    assert not (there / signing.PRIVATE).exists()


def test_the_key_is_for_its_owner_alone_and_stays(keys):
    first = signing.public_key(keys)
    assert (keys / signing.PRIVATE).stat().st_mode & 0o777 == 0o600
    assert keys.stat().st_mode & 0o777 == 0o700
    assert signing.public_key(keys) == first


@pytest.mark.parametrize(
    "changed",
    [
        None, b"", b"{", b"[]", b"null", b"[" * 5_000, {"schema_version": 2},
        {"algorithm": "rsa"}, {"public_key": "00" * 32}, {"public_key": "zz"}, {"public_key": 7},
        {"signature": "00" * 64}, {"signature": ""}, {"signature": None},
    ],
)  # fmt: skip
def test_what_is_no_signature_is_refused(keys, changed):
    good = json.loads(signing.sign(SUMS, keys))
    held = json.dumps({**good, **changed}).encode() if isinstance(changed, dict) else changed
    with pytest.raises(PackRejected):
        signing.verify(SUMS, held, signing.trusted(keys))


def test_other_sums_do_not_fit(keys):
    with pytest.raises(PackRejected, match="does not fit"):
        signing.verify(SUMS + b"x", signing.sign(SUMS, keys), signing.trusted(keys))


def test_a_damaged_key_is_not_replaced(keys):
    keys.mkdir(parents=True)
    (keys / signing.PRIVATE).write_bytes(b"mine")
    with pytest.raises(InvalidRequest, match="no Ed25519 key"):
        signing.sign(SUMS, keys)
    assert (keys / signing.PRIVATE).read_bytes() == b"mine"


@pytest.mark.parametrize("key", ["", "x", "00" * 31, "00" * 33, "é" * 64])
def test_what_is_no_key_is_not_trusted(keys, key):
    with pytest.raises(InvalidRequest, match="no public key"):
        signing.trust(keys, key)
    assert signing.trusted(keys) == []


def test_a_signed_pack_is_verified_by_what_it_holds(keys, tmp_path):
    kept = Kept(tmp_path)
    _, folder = kept.create()
    target = tmp_path / "a.tcp"
    pack.export(folder, target, sign=lambda sums: signing.sign(sums, keys))

    unpacked = pack.unpack(target)
    assert signing.verify(unpacked.checksums, unpacked.signature, signing.trusted(keys))
    pack.export(folder, target)
    with pytest.raises(PackRejected, match="not signed"):
        signing.verify(SUMS, pack.unpack(target).signature, signing.trusted(keys))
