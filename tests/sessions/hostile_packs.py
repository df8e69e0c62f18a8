"""Packs that nobody should take: families of them, each of as many kinds as a seed draws."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
import zlib
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

ROOT = "snap_1"
DOCUMENTS = ("manifest.json", "working_set.json", "pinned_snippets.json", "git_state.json")
NAMES = (*DOCUMENTS, "action_log.jsonl")


class Hostile(NamedTuple):
    family: str
    held: bytes


def hostile(good: dict[str, bytes], number: int, chance: random.Random) -> Hostile:
    """The pack of a number: families take turns, the seed draws within them.

    good: the files of a pack that is taken, by their names, without `checksums.txt`.
    """
    made = FAMILIES[number % len(FAMILIES)]
    return Hostile(made.__name__.strip("_"), made(dict(good), chance))


# How packs are put together


def sums(files: dict[str, bytes]) -> bytes:
    """A list of checksums that is right."""
    lines = [
        f"{hashlib.sha256(held).hexdigest()}  {name}\n" for name, held in sorted(files.items())
    ]
    return "".join(lines).encode("utf-8", "surrogateescape")


def listed(files: dict[str, bytes]) -> dict[str, bytes]:
    return {**files, "checksums.txt": sums(files)}


def info(name: str, **fields: object) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    for field, value in fields.items():
        setattr(made, field, value)
    return made


Part = tuple["tarfile.TarInfo | str", bytes]


def tar(parts: list[Part], form: int = tarfile.GNU_FORMAT) -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w", format=form, errors="surrogateescape") as archive:
        for told, content in parts:
            member = told if isinstance(told, tarfile.TarInfo) else info(told)
            if member.isreg() and not member.size:
                member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return held.getvalue()


def placed(files: dict[str, bytes], root: str = ROOT) -> list[Part]:
    return [(f"{root}/{name}", held) for name, held in files.items()]


def packed(files: dict[str, bytes], *more: Part) -> bytes:
    """Files with sums that are right, and something more in front, between or behind."""
    parts = placed(listed(files))
    return gzip.compress(tar([*parts, *more]), 1)


def inserted(files: dict[str, bytes], chance: random.Random, *more: Part) -> bytes:
    parts = placed(listed(files))
    for part in more:
        parts.insert(chance.randint(0, len(parts)), part)
    return gzip.compress(tar(parts), 1)


def block(name: bytes, size: bytes, kind: bytes = b"0", link: bytes = b"") -> bytes:
    """A header of a tar, with any bytes for a name and a size, and a sum that is right."""
    made = bytearray(512)
    made[0:100] = name.ljust(100, b"\0")[:100]
    made[100:124] = b"0000600\0" + b"0000000\0" + b"0000000\0"
    made[124:136] = size.ljust(12, b"\0")[:12]
    made[136:148] = b"00000000000\0"
    made[156:157] = kind
    made[157:257] = link.ljust(100, b"\0")[:100]
    made[257:265] = b"ustar\x0000"
    made[148:156] = b" " * 8
    made[148:156] = b"%06o\0 " % sum(made)
    return bytes(made)


def octal(size: int) -> bytes:
    return b"%011o\0" % size


def filled(held: bytes) -> bytes:
    return held + bytes(-len(held) % 512)


def whole(files: dict[str, bytes]) -> bytes:
    """The tar of a pack, without the zeros at its end."""
    return b"".join(
        block(f"{ROOT}/{name}".encode(), octal(len(held))) + filled(held)
        for name, held in listed(files).items()
        if len(f"{ROOT}/{name}") <= 100
    )


def ended(held: bytes) -> bytes:
    return gzip.compress(held + bytes(1024), 1)


def changed(files: dict[str, bytes], name: str, **fields: object) -> dict[str, bytes]:
    body = json.loads(files[name])
    return {**files, name: json.dumps({**body, **fields}).encode()}


# The families


def _climbs_out(good: dict[str, bytes], chance: random.Random) -> bytes:
    name = chance.choice(
        ["../evil", "../../evil", f"{ROOT}/../evil", f"{ROOT}/../../etc/cron.d/evil",
         f"{ROOT}/pinned_snippets/../../../evil", f"../{ROOT}/manifest.json", "..",
         f"{ROOT}/./manifest.json", f"{ROOT}//manifest.json", f"./{ROOT}/manifest.json",
         "./manifest.json", f"{ROOT}/..", "..\\evil", f"{ROOT}\\..\\evil", "C:\\evil", "C:evil",
         f"{ROOT}/manifest.json/../../evil", "..//manifest.json", ".../manifest.json",
         f"{ROOT}/pinned_snippets/{'a' * 64}.txt/../../../evil"]
    )  # fmt: skip
    return inserted(good, chance, (name, chance.randbytes(chance.randint(0, 40))))


def _is_absolute(good: dict[str, bytes], chance: random.Random) -> bytes:
    name = chance.choice(
        ["/etc/evil", "/manifest.json", "//manifest.json", "/tmp/evil", "/", "/briefing.md",
         f"/{ROOT}/briefing.md", "\\\\host\\share\\evil", f"/pinned_snippets/{'a' * 64}.txt"]
    )  # fmt: skip
    member = info(name)
    if chance.random() < 0.5:
        return inserted(good, chance, (member, b"x"))
    # All of it absolute.
    return gzip.compress(tar([(f"/{name}", held) for name, held in listed(good).items()]), 1)


def _is_a_link(good: dict[str, bytes], chance: random.Random) -> bytes:
    kind = chance.choice([tarfile.SYMTYPE, tarfile.LNKTYPE])
    name = chance.choice(["briefing.md", "evil", *NAMES, f"pinned_snippets/{'b' * 64}.txt"])
    target = chance.choice(["/etc/passwd", "../../evil", f"{ROOT}/manifest.json", ".", "", "/"])
    link = info(f"{ROOT}/{name}", type=kind, linkname=target)
    good.pop(name, None)
    return inserted(good, chance, (link, b""))


def _links_the_folder(good: dict[str, bytes], chance: random.Random) -> bytes:
    """First the folder as a link elsewhere, then files into it."""
    name = chance.choice([ROOT, f"{ROOT}/pinned_snippets", "pinned_snippets"])
    link = info(name, type=chance.choice([tarfile.SYMTYPE, tarfile.LNKTYPE]), linkname="/tmp")
    return gzip.compress(tar([(link, b""), *placed(listed(good))]), 1)


def _is_a_device(good: dict[str, bytes], chance: random.Random) -> bytes:
    kind = chance.choice([tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, tarfile.CONTTYPE])
    name = chance.choice(["briefing.md", "null", *NAMES])
    good.pop(name, None)
    special = info(f"{ROOT}/{name}", type=kind, devmajor=1, devminor=chance.randint(0, 9))
    return inserted(good, chance, (special, b""))


def _is_of_no_kind(good: dict[str, bytes], chance: random.Random) -> bytes:
    kind = bytes([chance.choice([i for i in range(1, 256) if bytes([i]) not in b"05xL"])])
    return ended(block(f"{ROOT}/briefing.md".encode(), octal(0), kind) + whole(good))


def _is_a_strange_folder(good: dict[str, bytes], chance: random.Random) -> bytes:
    name = chance.choice(
        ["../evil", "/etc", "..", f"{ROOT}/evil", f"{ROOT}/pinned_snippets/deeper", "évil", ".",
         f"{ROOT}/manifest.json", "other", "pinned_snippets/x", "-rf", "a b"]
    )  # fmt: skip
    if name == "-rf":  # a name that is one, and another one than the files'
        return inserted(good, chance, (info("rf", type=tarfile.DIRTYPE), b""))
    return inserted(good, chance, (info(name, type=tarfile.DIRTYPE), b""))


def _is_sparse(good: dict[str, bytes], chance: random.Random) -> bytes:
    if chance.random() < 0.4:
        size = chance.choice([0, 512, 1 << 40])
        return ended(
            block(f"{ROOT}/briefing.md".encode(), octal(min(size, 512)), b"S")
            + bytes(min(size, 512))
            + whole(good)
        )
    headers = chance.choice(
        [
            {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "briefing.md",
             "GNU.sparse.realsize": str(1 << 50)},
            {"GNU.sparse.map": "0,1", "GNU.sparse.size": str(1 << 50)},
            {"GNU.sparse.name": "../../evil"}, {"GNU.sparse.realsize": "-1"},
            {"GNU.sparse.numblocks": str(1 << 40)},
        ]
    )  # fmt: skip
    return _with_pax(good, headers, chance)


def _with_pax(
    good: dict[str, bytes], headers: dict[str, str], chance: random.Random, kind: bytes = b""
) -> bytes:
    records = b"".join(
        record(key.encode(), value.encode("utf-8", "surrogateescape"))
        for key, value in headers.items()
    )
    return ended(
        block(b"./PaxHeaders/x", octal(len(records)), kind or b"x") + filled(records)
        + block(f"{ROOT}/briefing.md".encode(), octal(2)) + filled(b"hi")
        + whole({**good, "briefing.md": b"hi"} if chance.random() < 0.5 else good)
    )  # fmt: skip


def record(key: bytes, value: bytes) -> bytes:
    body = b" " + key + b"=" + value + b"\n"
    size = len(body) + 1
    while len(str(size)) + len(body) != size:
        size += 1
    return str(size).encode() + body


def _says_much_in_pax(good: dict[str, bytes], chance: random.Random) -> bytes:
    headers = chance.choice(
        [
            {"path": "../../evil"}, {"path": "/etc/evil"}, {"path": ""}, {"path": "x" * 900},
            {"path": f"{ROOT}/manifest.json"}, {"path": "a\0b"}, {"path": "\udcff"},
            {"size": str(1 << 60)}, {"size": "-1"}, {"size": "-512"}, {"size": "1e9"},
            {"size": ""}, {"linkpath": "/etc/passwd"}, {"hdrcharset": "BINARY"},
            {"charset": "UTF-7"}, {"path": "." * 5000}, {"comment": "y" * 5000}, {"evil": "1"},
            {"path": f"{ROOT}/briefing.md\n../evil"}, {"path": f"{ROOT}/briefing.md/"},
        ]
    )  # fmt: skip
    return _with_pax(good, headers, chance)


def _has_broken_pax(good: dict[str, bytes], chance: random.Random) -> bytes:
    records = chance.choice(
        [
            b"", b"x", b"0 path=x\n", b"-5 path=x\n", b"9999 path=x\n", b"5 path=x\n", b"11 path=x",
            b"9 path=\n\n", b"12 path=abc\0", b"99999999999999999999 path=x\n", b"10 =abcdef\n",
            b"\xff\xfe", b"13 \xff\xfe=abcde\n", b"\xd9\xa1\xd9\xa0 path=x\n",
            record(b"path", b"a") + record(b"path", b"b"), b"\0" * 512, chance.randbytes(60),
        ]
    )  # fmt: skip
    return ended(
        block(b"x", octal(len(records)), b"x") + filled(records) + block(b"x/y", octal(0))
        + whole(good)
    )  # fmt: skip


def _has_chained_headers(good: dict[str, bytes], chance: random.Random) -> bytes:
    """Headers about headers: each one is one more level of somebody's stack."""
    count = chance.choice([2, 3, 100, 3_000])
    kinds = [chance.choice([b"x", b"L", b"K"]) for _ in range(count)]
    told = {
        b"x": record(b"path", f"{ROOT}/briefing.md".encode()),
        b"L": b"briefing.md\0", b"K": b"/etc/passwd\0",
    }  # fmt: skip
    chain = b"".join(block(b"x", octal(len(told[k])), k) + filled(told[k]) for k in kinds)
    return ended(chain + whole(good))


def _speaks_for_all(good: dict[str, bytes], chance: random.Random) -> bytes:
    """A pax header for everything behind it."""
    headers = chance.choice(
        [{"path": "../evil"}, {"size": "0"}, {"comment": "x"}, {"linkpath": "/etc/passwd"}]
    )
    return _with_pax(good, headers, chance, b"g")


def _has_a_long_name(good: dict[str, bytes], chance: random.Random) -> bytes:
    name = chance.choice(
        [b"../" * 60 + b"evil", b"x" * 3000, f"{ROOT}/".encode() + b"y" * 200, b"/" + b"z" * 300,
         b"", b"\0", b"a\0b", b"\xff" * 150, f"{ROOT}/manifest.json\0evil".encode(),
         b"\n" * 40, b"\x1b[2J" * 30]
    )  # fmt: skip
    size = chance.choice([len(name), len(name), 1 << 33, 0])
    return ended(
        block(b"././@LongLink", octal(size), chance.choice([b"L", b"L", b"K"])) + filled(name)
        + block(f"{ROOT}/briefing.md".encode(), octal(2)) + filled(b"hi") + whole(good)
    )  # fmt: skip


def _has_a_wrong_size(good: dict[str, bytes], chance: random.Random) -> bytes:
    size = chance.choice(
        [octal(1 << 32), octal((8 << 30) - 1), b"\x80" + (1 << 62).to_bytes(11, "big"),
         b"\xff" * 12, b"\xff" + bytes(11), b"-0000000001\0", b"0x10\0", b"", b"9999\0",
         b"1 2\0", b"\x80" + bytes(11), b"+7\0", "٣".encode(), b"7\0\0junk"]
    )  # fmt: skip
    return ended(block(f"{ROOT}/briefing.md".encode(), size) + filled(b"hi") + whole(good))


def _has_a_damaged_header(good: dict[str, bytes], chance: random.Random) -> bytes:
    held = bytearray(whole(good))
    where = chance.choice([148, 150, 257, 260, 0, 130, 156])
    held[where] ^= 1 << chance.randint(0, 7)
    return ended(bytes(held))


def _ends_early(good: dict[str, bytes], chance: random.Random) -> bytes:
    held = whole(good) + bytes(1024)
    if chance.random() < 0.5:
        return gzip.compress(held[: chance.randint(0, len(held) - 1025)], 1)
    packed_whole = gzip.compress(held, 1)
    return packed_whole[: chance.randint(0, len(packed_whole) - 1)]


def _goes_on_behind_its_end(good: dict[str, bytes], chance: random.Random) -> bytes:
    held = whole(good) + bytes(1024)
    match chance.randint(0, 4):
        case 0:  # a second gzip member
            return gzip.compress(held, 1) + gzip.compress(chance.randbytes(20), 1)
        case 1:
            return gzip.compress(held, 1) + chance.randbytes(chance.randint(1, 600))
        case 2:  # something behind the end of the tar
            return gzip.compress(held + bytes(chance.randint(0, 999)) + b"x", 1)
        case 3:  # another archive
            return gzip.compress(held + held, 1)
        case _:  # cut in two members: what is checked and what is read may differ
            cut = chance.randint(1, len(held) - 1)
            return gzip.compress(held[:cut], 1) + gzip.compress(held[cut:], 1)


def _is_damaged_gzip(good: dict[str, bytes], chance: random.Random) -> bytes:
    held = bytearray(gzip.compress(whole(good) + bytes(1024), 1))
    match chance.randint(0, 5):
        case 0:
            held[chance.randint(0, 2)] ^= 0xFF
        case 1:
            held[-chance.randint(1, 8)] ^= 0xFF  # the sum, or the size
        case 2:
            return zlib.compress(whole(good) + bytes(1024))
        case 3:
            return whole(good) + bytes(1024)  # not packed at all
        case 4:
            return b"PK\x03\x04" + chance.randbytes(200)
        case _:
            return chance.randbytes(chance.randint(0, 2000))
    return bytes(held)


def _is_a_bomb(good: dict[str, bytes], chance: random.Random) -> bytes:
    size = chance.choice([9, 70, 200]) << 20
    match chance.randint(0, 3):
        case 0:  # a file of zeros
            name = chance.choice(["briefing.md", "working_set.json", f"{ROOT}.json"])
            return bomb(block(f"{ROOT}/{name}".encode(), octal(size)), size, whole(good))
        case 1:  # zeros behind the end
            return bomb(whole(good), max(size, 70 << 20), b"")
        case 2:  # a header of a name that is a hundred megabytes
            return bomb(block(b"x", octal(size), chance.choice([b"x", b"L"])), size, b"")
        case _:  # blanks in a document, as large as it may be, in all of them
            blank = b" " * (8 << 20)
            more = {name: good[name] + blank for name in NAMES}
            return packed({**good, **more})


def bomb(front: bytes, zeros: int, behind: bytes) -> bytes:
    """Many zeros in few bytes, without holding them."""
    zipped = zlib.compressobj(9, wbits=31)
    piece = bytes(1 << 20)
    held = [zipped.compress(front)]
    held += [zipped.compress(piece) for _ in range(zeros >> 20)]
    return b"".join([*held, zipped.compress(behind + bytes(1024)), zipped.flush()])


def _has_many_members(good: dict[str, bytes], chance: random.Random) -> bytes:
    count = chance.choice([1_100, 5_000, 30_000])
    match chance.randint(0, 2):
        case 0:
            many = [block(f"{ROOT}/pinned_snippets/{n:064x}.txt".encode()[:100], octal(0))
                    for n in range(count)]  # fmt: skip
        case 1:
            many = [block(f"{ROOT}/".encode(), octal(0), b"5")] * count
        case _:
            many = [block(f"{ROOT}/manifest.json".encode(), octal(0))] * count
    return ended(b"".join(many) + whole(good))


def _nests_a_pack(good: dict[str, bytes], chance: random.Random) -> bytes:
    inner = packed(good)
    name = chance.choice(["briefing.md", "manifest.json", "inner.tcp", "working_set.json"])
    if chance.random() < 0.3:
        return gzip.compress(inner, 1)
    return packed({**good, name: inner if name != "briefing.md" else inner * 60})


def _has_a_name_twice(good: dict[str, bytes], chance: random.Random) -> bytes:
    name = chance.choice([*NAMES, "checksums.txt"])
    held = listed(good)[name]
    twin = chance.choice(
        [name, name, name.upper(), name.title(), f"./{name}", f"{name} ", f"{name}.",
         name.replace("i", "\u0131"), name.replace("s", "\u017f"), f"{name}\u200b",
         name.replace("e", "e\u0301"), name.replace("a", "\u0430"), f"{name}/", f"{name}::$DATA"]
    )  # fmt: skip
    return inserted(good, chance, (f"{ROOT}/{twin}", chance.choice([held, b"{}"])))


def _is_in_several_folders(good: dict[str, bytes], chance: random.Random) -> bytes:
    files = list(listed(good).items())
    other = chance.choice(["other", "", "SNAP_1", f"{ROOT}."])
    moved = chance.randrange(len(files))
    parts: list[Part] = []
    for number, (name, held) in enumerate(files):
        root = other if number == moved else ROOT
        parts.append((f"{root}/{name}" if root else name, held))
    return gzip.compress(tar(parts), 1)


def _has_wrong_sums(good: dict[str, bytes], chance: random.Random) -> bytes:
    name = chance.choice([each for each in good if each != "checksums.txt"])
    lines = sums(good).splitlines(keepends=True)
    at = chance.randrange(len(lines))
    match chance.randint(0, 9):
        case 0:
            made = sums({**good, name: b"x"})
        case 1:
            made = b"".join(lines[:at] + lines[at + 1 :])
        case 2:
            made = b"".join([*lines, lines[at]])
        case 3:
            made = b"".join(lines) + b"0" * 64 + b"  briefing.md\n"
        case 4:
            made = b"".join(lines) + b"0" * 64 + b"  ../../evil\n"
        case 5:
            made = b"".join(lines).replace(b"  ", b" *")
        case 6:
            made = b"".join(lines).upper()
        case 7:
            made = b""
        case 8:
            made = b"\xff\xfe" + b"".join(lines)
        case _:
            made = b"".join(lines).replace(b"\n", b"\0")
    return gzip.compress(tar(placed({**good, "checksums.txt": made})), 1)


def _has_no_sums(good: dict[str, bytes], chance: random.Random) -> bytes:
    parts = placed(good)
    if chance.random() < 0.5:
        parts.append((f"{ROOT}/checksums.TXT", sums(good)))
    return gzip.compress(tar(parts), 1)


def _has_more_files(good: dict[str, bytes], chance: random.Random) -> bytes:
    """Files that are listed, with the right sums, and do not belong there."""
    held = chance.randbytes(20)
    name = chance.choice(
        ["evil.sh", "pinned_snippets/evil.txt", "README.md", ".bashrc", "manifest.json.bak",
         "pinned_snippets/", "deeper/manifest.json", "CLAUDE.md", "CON", "nul.txt",
         f"pinned_snippets/{hashlib.sha256(held).hexdigest()}.txt",
         f"pinned_snippets/{hashlib.sha256(held).hexdigest().upper()}.txt",
         f"pinned_snippets/{hashlib.sha256(held).hexdigest()}.sh",
         f"pinned_snippets/{'0' * 64}.txt", "\x1b[2J", "a\nb", "é"]
    )  # fmt: skip
    if chance.random() < 0.3:  # not even listed
        return inserted(good, chance, (f"{ROOT}/{name}", held))
    return packed({**good, name: held})


def _has_fewer_files(good: dict[str, bytes], chance: random.Random) -> bytes:
    name = chance.choice(list(good))
    match chance.randint(0, 2):
        case 0:
            return gzip.compress(
                tar([part for part in placed(listed(good)) if part[0] != f"{ROOT}/{name}"]), 1
            )
        case 1:
            good.pop(name)
            return packed(good)
        case _:
            return packed({})


def _is_of_the_future(good: dict[str, bytes], chance: random.Random) -> bytes:
    name = chance.choice(NAMES)
    version = chance.choice(
        [2, 0, -1, 1.0, 1.5, "1", True, None, [1], {"a": 1}, 10**30, 99, [[[[1]]]]]
    )
    if name == "action_log.jsonl":
        lines = good[name].splitlines()
        at = chance.randrange(len(lines) - 1)
        lines[at] = json.dumps({**json.loads(lines[at]), "schema_version": version}).encode()
        return packed({**good, name: b"\n".join(lines) + b"\n"})
    return packed(changed(good, name, schema_version=version))


def _has_a_bad_id(good: dict[str, bytes], chance: random.Random) -> bytes:
    field = chance.choice(["snapshot_id", "session_id"])
    bad = chance.choice(
        ["../../evil", "/etc", "", ".", "..", ".hidden", "a/b", "a\\b", "a b", "é", "a\n", "a\0b",
         "x" * 129, "x.partial", "snap.1.PARTIAL", "sessions.json", "Sessions.JSON.damaged",
         None, 7, True, ["a"], {}, "\ud800", "-\x1b[2J", "%2e%2e", "~", "$HOME"]
    )  # fmt: skip
    if isinstance(bad, str) and field == "session_id":
        files = changed(good, "manifest.json", session_id=bad)
        lines = [json.loads(line) for line in good["action_log.jsonl"].splitlines()]
        log = [json.dumps({**line, "session_id": bad}).encode() + b"\n" for line in lines]
        return packed({**files, "action_log.jsonl": b"".join(log)})
    return packed(changed(good, "manifest.json", **{field: bad}))


def _is_no_json(good: dict[str, bytes], chance: random.Random) -> bytes:
    name = chance.choice(DOCUMENTS)
    held = chance.choice(
        [b"", b"{", b"[]", b"null", b"1", b'"x"', b"\xff\xfe{}", good[name][:-3], b"{}",
         good[name] + b"x", b"[" * 100_000, b'{"a":' * 100_000, b"\0" * 40,
         good[name].decode().encode("utf-16"), b"\xef\xbb\xbf" + good[name], chance.randbytes(99)]
    )  # fmt: skip
    return packed({**good, name: held})


def _is_too_deep(good: dict[str, bytes], chance: random.Random) -> bytes:
    depth = chance.choice([33, 60, 200, 900])
    opened, closed = chance.choice([('{"a":', "}"), ("[", "]")])
    deep = '{"a":' + opened * depth + "1" + closed * depth + "}"
    if chance.random() < 0.5:
        line = good["action_log.jsonl"].splitlines()[0]
        made = json.dumps({**json.loads(line), "payload": "HERE"}).replace('"HERE"', deep)
        return packed({**good, "action_log.jsonl": made.encode() + b"\n"})
    body = json.loads(good["working_set.json"])
    body["searches_run"][0]["arguments"] = "HERE"
    made = json.dumps(body).replace('"HERE"', deep)
    return packed({**good, "working_set.json": made.encode()})


def _has_too_many_values(good: dict[str, bytes], chance: random.Random) -> bytes:
    """Two bytes of a list are a hundred in memory."""
    many = "[" + ",".join([chance.choice(["[]", "{}", "0"])] * 1_200_000) + "]"
    name = chance.choice(DOCUMENTS)
    body = {**json.loads(good[name]), "extra": "HERE"}
    return packed({**good, name: json.dumps(body).replace('"HERE"', many).encode()})


def _has_a_number_that_is_none(good: dict[str, bytes], chance: random.Random) -> bytes:
    number = chance.choice(["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1" + "0" * 30])
    match chance.randint(0, 3):
        case 0:
            field = chance.choice(["created_at", "generation", "context_epoch"])
            name, body = "manifest.json", {**json.loads(good["manifest.json"]), field: "HERE"}
        case 1:
            name, body = "working_set.json", json.loads(good["working_set.json"])
            body["frecency_top_n"] = [["a.py", "HERE"]]
        case 2:
            name, body = "working_set.json", json.loads(good["working_set.json"])
            body["searches_run"][0]["arguments"] = {"limit": "HERE"}
        case _:
            name = "action_log.jsonl"
            body = {**json.loads(good[name].splitlines()[0]), "payload": {"n": "HERE"}}
    held = json.dumps(body).replace('"HERE"', number).encode() + b"\n"
    return packed({**good, name: held})


def _is_out_of_range(good: dict[str, bytes], chance: random.Random) -> bytes:
    wrong = chance.choice([-1, 1.5, "7", True, None, [], 1 << 63, -(1 << 70)])
    match chance.randint(0, 4):
        case 0:
            field = chance.choice(["created_at", "generation", "context_epoch"])
            return packed(changed(good, "manifest.json", **{field: wrong}))
        case 1:
            entry = json.loads(good["action_log.jsonl"].splitlines()[0])
            entry[chance.choice(["entry_id", "ts"])] = wrong
            return packed({**good, "action_log.jsonl": json.dumps(entry).encode() + b"\n"})
        case 2:
            body = json.loads(good["working_set.json"])
            field = chance.choice(["last_read_at", "reads", "edits"])
            body["files_read"][0][field] = wrong
            return packed({**good, "working_set.json": json.dumps(body).encode()})
        case 3:
            return packed(changed(good, "git_state.json", hunk_summary={"a.py": wrong}))
        case _:
            body = json.loads(good["pinned_snippets.json"])
            first, last = chance.choice([(0, 1), (3, 2), (-1, 2), (1, wrong), (wrong, 9)])
            body["entries"][0] |= {"line_start": first, "line_end": last}
            return packed({**good, "pinned_snippets.json": json.dumps(body).encode()})


def _points_outside(good: dict[str, bytes], chance: random.Random) -> bytes:
    path = chance.choice(
        ["../outside", "/etc/passwd", "a/../../b", "", ".", "a//b", "a\0b", "x" * 5_000, None, 7,
         "a/./b", "src/.."]
    )  # fmt: skip
    match chance.randint(0, 3):
        case 0:
            body = json.loads(good["working_set.json"])
            body["files_read"][0]["path"] = path
            return packed({**good, "working_set.json": json.dumps(body).encode()})
        case 1:
            body = json.loads(good["working_set.json"])
            body["frecency_top_n"] = [[path, 1.0]]
            return packed({**good, "working_set.json": json.dumps(body).encode()})
        case 2:
            body = json.loads(good["pinned_snippets.json"])
            body["entries"][0]["path"] = path
            return packed({**good, "pinned_snippets.json": json.dumps(body).encode()})
        case _:
            root = chance.choice(["", "repo", "../repo", None, 7, "C:\\repo", "~/repo", "/a\0b"])
            return packed(changed(good, "manifest.json", repo_root=root))


def _lacks_a_field(good: dict[str, bytes], chance: random.Random) -> bytes:
    name = chance.choice(NAMES)
    first, *rest = good[name].splitlines() if name == "action_log.jsonl" else [good[name]]
    body = json.loads(first)
    body.pop(chance.choice([key for key in body if key in FIELDS[name]]))
    return packed({**good, name: b"\n".join([json.dumps(body).encode(), *rest]) + b"\n"})


FIELDS = {
    "manifest.json": (
        "schema_version", "snapshot_id", "session_id", "created_at", "repo_root", "repo_commit",
        "repo_dirty_files", "source_harness", "source_model", "generation", "context_epoch",
    ),
    "working_set.json": ("schema_version", "files_read", "searches_run", "frecency_top_n"),
    "action_log.jsonl": ("schema_version", "entry_id", "session_id", "ts", "kind", "payload"),
    "pinned_snippets.json": ("schema_version", "entries"),
    "git_state.json": ("schema_version", "commit", "branch", "dirty_files", "hunk_summary"),
}  # fmt: skip
"""What the reference requires."""


def _is_another_sessions(good: dict[str, bytes], chance: random.Random) -> bytes:
    lines = good["action_log.jsonl"].splitlines()
    at = chance.randrange(len(lines))
    lines[at] = json.dumps({**json.loads(lines[at]), "session_id": "another"}).encode()
    return packed({**good, "action_log.jsonl": b"\n".join(lines) + b"\n"})


def _has_another_snippet(good: dict[str, bytes], chance: random.Random) -> bytes:
    [name] = [each for each in good if each.startswith("pinned_snippets/")]
    match chance.randint(0, 3):
        case 0:
            return packed({**good, name: good[name] + b" "})
        case 1:
            good.pop(name)
            return packed(good)
        case 2:
            return packed({**good, name: chance.randbytes(600 << 10)})
        case _:
            body = json.loads(good["pinned_snippets.json"])
            body["entries"][0]["sha"] = chance.choice(["", "../../evil", "A" * 64, "a" * 63, None])
            return packed({**good, "pinned_snippets.json": json.dumps(body).encode()})


FAMILIES: tuple[Callable[[dict[str, bytes], random.Random], bytes], ...] = (
    _climbs_out, _is_absolute, _is_a_link, _links_the_folder, _is_a_device, _is_of_no_kind,
    _is_a_strange_folder, _is_sparse, _says_much_in_pax, _has_broken_pax, _has_chained_headers,
    _speaks_for_all, _has_a_long_name, _has_a_wrong_size, _has_a_damaged_header, _ends_early,
    _goes_on_behind_its_end, _is_damaged_gzip, _is_a_bomb, _has_many_members, _nests_a_pack,
    _has_a_name_twice, _is_in_several_folders, _has_wrong_sums, _has_no_sums, _has_more_files,
    _has_fewer_files, _is_of_the_future, _has_a_bad_id, _is_no_json, _is_too_deep,
    _has_too_many_values, _has_a_number_that_is_none, _is_out_of_range, _points_outside,
    _lacks_a_field, _is_another_sessions, _has_another_snippet,
)  # fmt: skip
