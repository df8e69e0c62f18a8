"""Secrets in what agents and people say reach no file of the state folder."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import random
import subprocess
import tarfile
import zlib
from pathlib import Path

import pytest

from tests.conftest import plant
from tests.e2e.agents import agent
from tests.e2e.hooking import Hooks
from tests.e2e.serving import daemon, environ, triseek
from tests.secret_values import SECRETS
from triseek.sessions import pack, snapshot_files

pytestmark = pytest.mark.long

NOTES, SOURCE = "notes.txt", "a.py"


class Planted:
    """Makes secrets, each another, and remembers them."""

    def __init__(self):
        self.values = []
        self._chance = random.Random(17)

    def secret(self, kind):
        value = SECRETS[kind](self._chance)
        self.values.append(value)
        return value

    def each(self):
        """One of each kind."""
        return [self.secret(kind) for kind in SECRETS]

    def private(self):
        word = f"confidential-{self._chance.randrange(10**9)}"
        self.values.append(word)
        return f"before <private>about {word}</private> after"

    def named(self, name):
        value = f"{self._chance.choice('qwxz')}{self._chance.randrange(10**9):09d}Kd!"
        self.values.append(value)
        return f"{name} = '{value}'"


@pytest.fixture(scope="module")
def planted():
    return Planted()


@pytest.fixture(scope="module")
def home(tmp_path_factory, planted):
    """A state folder after work in which all that is said holds secrets."""
    home = tmp_path_factory.mktemp("planted-home")
    root = (tmp_path_factory.mktemp("planted") / "repo").resolve()
    root.mkdir()
    plant(root, {NOTES: "".join(f"line {number}\n" for number in range(1, 200)), SOURCE: "a = 1\n"})
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    triseek(home, "build", str(root))
    with daemon(home):
        with agent(root, client="opencode", **environ(home)) as client:
            _say_by_tools(client, root, planted)
            _say_by_hooks(Hooks(home, root, "s1"), planted)
            made = client.call("session_handoff", output="work.tcp")
        _import(home, Path(made["snapshot_dir"]), root.parent / "old.tcp", planted)
    return home


def _say_by_tools(client, root, planted):
    for secret in planted.each():
        client.call("session_open", goal=f"Find out why {secret} fails; {planted.private()}")
        padded = "x" * 470 + " " + planted.secret("github-token")  # at the end of what is recorded
        client.call("search_content", query=secret, patterns=[planted.secret("jwt"), padded])
        client.result("search_content", query=f"({secret}", mode="regex")
        client.call("find_files", query=planted.secret("slack-token"))
        client.call("context_pack", goal=planted.named("password"))
        client.result("memo_check", path=planted.secret("npm-token"))
    pinned = planted.each()
    (root / NOTES).write_text("\n".join(pinned))
    count = (root / NOTES).read_text().count("\n") + 1
    pins = [{"path": NOTES, "line_start": 1, "line_end": count}]
    pins += [{**pins[0], "line_start": line, "line_end": line} for line in (1, count)]
    client.call("session_snapshot", pinned_snippet_paths=pins)


def _say_by_hooks(hooks, planted):
    hooks.tell("SessionStart", source="startup")
    for number, secret in enumerate(planted.each()):
        prompt = f"{number}: use {secret} for it. {planted.private()}. {planted.named('api_key')}"
        hooks.tell("UserPromptSubmit", prompt=prompt)
    for secret in planted.each():
        hooks.use("grep", {"pattern": secret}, "No files found")
    for secret in planted.each():
        command = f"curl -H 'X-Key: {secret}' https://example.org; {planted.named('export TOKEN')}"
        hooks.use("bash", {"command": command}, f"401 {planted.secret('jwt')}")
    path = hooks.root / SOURCE
    for secret in planted.each():  # contents that the memo could keep
        path.write_text(f"KEY = '''{secret}'''\n")
        hooks.use("edit", {"filePath": str(path), "newString": path.read_text()}, "done")
        hooks.read(SOURCE)
    path.write_text("a = 2\n")


def _import(home, folder, target, planted):
    """Import a snapshot as a version that did not redact would have packed it."""
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
    entry = json.loads(files["action_log.jsonl"].splitlines()[0])
    entry["payload"]["prompt"] = " ".join(planted.each())
    files["action_log.jsonl"] = json.dumps(entry).encode() + b"\n"
    manifest = json.loads(files["manifest.json"])
    manifest |= {"goal": planted.secret("aws-key"), "snapshot_id": "snap_1_old"}
    files["manifest.json"] = json.dumps(manifest).encode()
    [pin, *_] = json.loads(files["pinned_snippets.json"])["entries"]
    text = planted.secret("openai-key").encode()
    del files[f"pinned_snippets/{pin['sha']}.txt"]
    new = snapshot_files.sha(text)
    files[f"pinned_snippets/{new}.txt"] = text
    pins = files["pinned_snippets.json"].replace(pin["sha"].encode(), new.encode())
    files["pinned_snippets.json"] = pins
    files["briefing.md"] = planted.secret("stripe-key").encode()
    with tarfile.open(target, "w:gz", format=tarfile.USTAR_FORMAT) as tar:
        for file, content in {**files, pack.CHECKSUMS: pack.checksums(files)}.items():
            member = tarfile.TarInfo(file)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    triseek(home, "pack", "import", str(target))


def written(home):
    """Yield the path and content of each file, and what is in those that are compressed."""
    for path in sorted(home.rglob("*")):
        if not path.is_file() or path.suffix in (".nbi", ".nbc"):
            continue
        data = path.read_bytes()
        yield path, data
        with (
            contextlib.suppress(OSError, EOFError, tarfile.TarError),
            tarfile.open(fileobj=io.BytesIO(gzip.decompress(data))) as tar,
        ):
            for member in filter(tarfile.TarInfo.isfile, tar):
                yield path / member.name, tar.extractfile(member).read()
        with contextlib.suppress(zlib.error):
            yield path, zlib.decompress(data)


def test_no_secret_is_in_any_file_of_the_state_folder(home, planted):
    assert len(planted.values) >= 500
    pieces = {value: (value.split("\n") * 2)[1].encode() for value in planted.values}
    contents = list(written(home))
    assert len(contents) > 20

    assert [
        (str(path.relative_to(home)), value)
        for path, data in contents
        for value, piece in pieces.items()
        if piece in data
    ] == []


def test_what_surrounds_a_secret_is_kept(home):
    log = b"".join(path.read_bytes() for path in home.rglob("action_log.jsonl"))

    assert b"[redacted: aws-key]" in log
    assert b"before [private] after" in log
    assert b"api_key = '[redacted: value]'" in log
