"""A signature says who made a pack, and nothing that was changed afterwards."""

from __future__ import annotations

import json
import os
import threading

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from tests.sessions.snapshots import Kept
from triseek.errors import InvalidRequest, PackRejected, StateUnwritable
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
    (keys / signing.PRIVATE).chmod(0o600)
    with pytest.raises(InvalidRequest, match="no Ed25519 key"):
        signing.sign(SUMS, keys)
    assert (keys / signing.PRIVATE).read_bytes() == b"mine"


def refuses(keys, what):
    """Neither signs, nor trusts, nor verifies."""
    for work in (
        lambda: signing.sign(SUMS, keys), lambda: signing.public_key(keys),
        lambda: signing.trusted(keys),
    ):  # fmt: skip
        with pytest.raises((InvalidRequest, StateUnwritable), match=what):
            work()


@pytest.mark.parametrize("mode", [0o604, 0o640, 0o660, 0o666])
def test_a_key_that_others_can_read_is_not_used(keys, mode):
    signing.sign(SUMS, keys)
    (keys / signing.PRIVATE).chmod(mode)
    refuses(keys, "others can")


@pytest.mark.parametrize("mode", [0o722, 0o770, 0o777, 0o702])
def test_a_folder_of_keys_that_others_can_write_is_not_used(keys, mode):
    signing.sign(SUMS, keys)
    keys.chmod(mode)
    refuses(keys, "others can")
    keys.chmod(0o755)
    assert signing.trusted(keys)


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_trusted_keys_that_others_can_write_are_not_believed(keys, mode):
    signing.trust(keys, "11" * 32)
    (keys / signing.TRUSTED).chmod(mode)
    with pytest.raises(InvalidRequest, match="others can change"):
        signing.trusted(keys)
    with pytest.raises(InvalidRequest, match="others can change"):
        signing.trust(keys, "22" * 32)
    assert "22" not in (keys / signing.TRUSTED).read_text()


@pytest.mark.parametrize("there", [True, False])
def test_a_key_behind_a_link_is_not_used(keys, tmp_path, there):
    other = tmp_path / "other"
    if there:
        signing.sign(SUMS, other)
    keys.mkdir(parents=True)
    (keys / signing.PRIVATE).symlink_to(other / signing.PRIVATE)
    refuses(keys, "is a link")
    assert other.exists() == there, "nothing was made behind it"


def test_trusted_keys_behind_a_link_are_not_believed(keys, tmp_path):
    keys.mkdir(parents=True)
    (tmp_path / "evil").write_text("11" * 32)
    (keys / signing.TRUSTED).symlink_to(tmp_path / "evil")
    with pytest.raises(StateUnwritable, match="is a link"):
        signing.trusted(keys)


def test_a_pipe_in_place_of_a_key_is_not_waited_for(keys):
    keys.mkdir(parents=True)
    os.mkfifo(keys / signing.PRIVATE, 0o600)
    with pytest.raises(InvalidRequest, match="no Ed25519 key"):
        signing.sign(SUMS, keys)


def test_remarks_beside_trusted_keys_stay(keys):
    signing.trust(keys, "11" * 32)
    text = f"# é: Anne, by phone\n{'AB' * 32} of Bernd\n\n"
    (keys / signing.TRUSTED).write_text(text, encoding="utf-8")
    assert signing.trusted(keys) == ["ab" * 32]
    signing.trust(keys, "AB" * 32)
    signing.trust(keys, "22" * 32)
    held = (keys / signing.TRUSTED).read_text(encoding="utf-8")
    assert held == f"{text}{'22' * 32}\n"
    assert (keys / signing.TRUSTED).stat().st_mode & 0o777 == 0o600


def test_a_file_of_trusted_keys_that_is_no_text_is_not_replaced(keys):
    keys.mkdir(parents=True)
    (keys / signing.TRUSTED).write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidRequest, match="no text"):
        signing.trust(keys, "11" * 32)
    assert (keys / signing.TRUSTED).read_bytes() == b"\xff\xfe"


def test_of_many_that_sign_first_all_have_one_key(keys):
    found, begin = [], threading.Barrier(8)

    def sign():
        begin.wait()
        found.append(json.loads(signing.sign(SUMS, keys))["public_key"])

    threads = [threading.Thread(target=sign) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [signing.public_key(keys)] * 8
    assert [path.name for path in keys.iterdir()] == [signing.PRIVATE]


def test_what_is_signed_begins_with_what_it_is(keys):
    """A signature of ours fits nothing else, and none of something else fits a pack."""
    key = serialization.load_pem_private_key(_held(keys), password=None)
    body = json.loads(signing.sign(SUMS, keys))
    Ed25519PublicKey.from_public_bytes(bytes.fromhex(body["public_key"])).verify(
        bytes.fromhex(body["signature"]), b"triseek pack 1\n" + SUMS
    )
    bare = json.dumps({**body, "signature": key.sign(SUMS).hex()}).encode()
    with pytest.raises(PackRejected, match="does not fit"):
        signing.verify(SUMS, bare, signing.trusted(keys))


def _held(keys):
    signing.sign(SUMS, keys)
    return (keys / signing.PRIVATE).read_bytes()


@pytest.mark.parametrize("spelled", ["{0:^140}", "00{0}", "{0}\\n"])
@pytest.mark.parametrize("name", ["public_key", "signature"])
def test_a_signature_has_one_spelling(keys, name, spelled):
    body = json.loads(signing.sign(SUMS, keys))
    held = json.dumps({**body, name: spelled.format(body[name])}).encode()
    with pytest.raises(PackRejected):
        signing.verify(SUMS, held, signing.trusted(keys))


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
