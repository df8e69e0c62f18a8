"""The recipes of AGENTS.md, each followed with a fake in a copy of the package.

A recipe says which files an engineer writes. The tests write those and no others, and use what
should follow from them through the program itself.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.mcp.speaking import call, greeted, request

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

pytestmark = pytest.mark.long

CHECKOUT = Path(__file__).parents[1]

TOOL = '''"""Greet somebody."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypedDict

from triseek.model.tool import STRICT


@dataclass(frozen=True, slots=True)
class GreetRequest:
    """Greet somebody by name."""

    __pydantic_config__: ClassVar = STRICT

    who: str
    """The name of the person."""


class GreetAnswer(TypedDict):
    """A greeting."""

    greeting: str
    """The words to say."""


def greet(context, request, call):
    return GreetAnswer(greeting=f"Hello, {request.who}")


def lines(name, arguments, result):
    yield result["greeting"]
'''
TOOL_ROW = """    Tool(
        name="greet",
        title="Greet",
        toolset="%s",
        request=greeting.GreetRequest,
        results=(greeting.GreetAnswer,),
        listed="greeting",
        answer=greeting.greet,
        digest=greeting.lines,
        kind="greeting",
    ),
"""
WING = '''"""The declaration of the toy wing."""

from typing import NamedTuple

from triseek.model.tool import Tool
from triseek.model.tool import Wing
from triseek.toy import greeting


class ToyContext(NamedTuple):
    root: str

    @classmethod
    def of(cls, host):
        return cls(host.root)


TOOLS = (
%s)
WING = Wing(toolset="toy", tools=TOOLS, context=ToyContext.of)
'''
COMMANDS = '''"""The verbs of the toy wing."""

import typer

toy = typer.Typer(name="toy", help="A toy.")


@toy.command()
def wave() -> None:
    """Wave."""
    print("waving")


@toy.command()
def sleep() -> None:
    """Sleep."""


def register(app):
    app.add_typer(toy)
'''
AGENT = '''"""Fake: an agent that exists in this test only."""

from __future__ import annotations

import os

from triseek.agents.base import NAME
from triseek.agents.hook_protocol import HookAgent
from triseek.agents.install.entries import JsonMember
from triseek.agents.install.hook_entries import HookItem, command
from triseek.agents.payloads import tools


class Fake(HookAgent):
    """The program `fake`."""

    name = "fake-agent"
    title = "Fake Agent"
    programs = ("fake-agent",)
    client_names = ("fake-agent",)
    handoff_name = "fake_agent"
    project_files = ("FAKE.md",)
    project_folder = ".fake"
    reads = {"look": tools.between}

    def plan(self, scope, here):
        settings = os.path.join(self.folder(scope, here), "settings.json")
        hook = {"type": "command", "command": command(here.program, "AfterTool", self.name)}
        return [
            JsonMember(settings, ("mcpServers", NAME), here.server()),
            HookItem(settings, ("hooks", "AfterTool"), {"hooks": [hook]}),
        ]


AGENT = Fake()
'''


class Copy:
    """A copy of the package, changed as a recipe says."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.package = folder / "triseek"
        self.home = folder / "home"
        self.home.mkdir()
        self.touched: set[str] = set()
        # The times are copied too, so that the compiled modules stay valid.
        shutil.copytree(CHECKOUT / "triseek", self.package)

    def write(self, name: str, text: str) -> None:
        """Write a new file."""
        path = self.package / name
        path.parent.mkdir(exist_ok=True)
        assert not path.exists()
        path.write_text(text)
        self.touched.add(name)

    def insert(self, name: str, after: str, text: str) -> None:
        """Write text behind a text that the file has once."""
        path = self.package / name
        before = path.read_text()
        assert before.count(after) == 1, (name, after, before.count(after))
        path.write_text(before.replace(after, after + text))
        self.touched.add(name)

    def environment(self) -> Mapping[str, str]:
        return {
            **os.environ,
            "PYTHONPATH": os.pathsep.join((str(self.folder), str(CHECKOUT))),
            "HOME": str(self.home),
            "TRISEEK_HOME": str(self.home / ".triseek"),
        }

    def python(self, *words: str, stdin: str = "", **variables: str) -> str:
        """Run this Python with the copy; return its output."""
        done = subprocess.run(
            [sys.executable, *words],
            input=stdin, capture_output=True, text=True, cwd=self.home,
            env={**self.environment(), **variables}, check=False, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def run(self, *words: str, stdin: str = "", **variables: str) -> str:
        """Run triseek from the copy; return its output."""
        return self.python("-m", "triseek", *words, stdin=stdin, **variables)

    @contextlib.contextmanager
    def daemon(self) -> Iterator[None]:
        """A daemon that runs the copy."""
        self.run("daemon", "start", TRISEEK_NO_DAEMON="")
        try:
            yield
        finally:
            self.run("daemon", "stop", TRISEEK_NO_DAEMON="")

    def served(self, toolset: str, **variables: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """The tool `greet` as an agent sees it: how it is listed, and what it answers."""
        words = (
            "-P",
            "-m",
            "triseek",
            "mcp",
            "serve",
            "--toolsets",
            toolset,
            "--repo",
            str(self.home),
        )
        with greeted(words, variables={**self.environment(), **variables}) as server:
            listed = server.ask(request(1, "tools/list"))["result"]["tools"]
            answer = server.ask(call(2, "greet", who="Ada"))["result"]

        return next(tool for tool in listed if tool["name"] == "greet"), answer


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


def assert_served(copy: Copy, toolset: str) -> None:
    """The tool is there with a daemon and without one, and in the reference page."""
    for no_daemon in ("1", ""):
        with copy.daemon() if not no_daemon else contextlib.nullcontext():
            listed, answer = copy.served(toolset, TRISEEK_NO_DAEMON=no_daemon)
        assert listed["title"] == "Greet"
        assert listed["description"] == "Greet somebody by name."
        assert (
            listed["inputSchema"]["properties"]["who"]["description"] == "The name of the person."
        )
        assert listed["outputSchema"]["properties"]["greeting"]["type"] == "string"
        assert answer["structuredContent"]["greeting"] == "Hello, Ada"
        assert "Hello, Ada" in answer["content"][0]["text"]
    page = copy.python("-c", "from tests import tools_page; print(tools_page.page())")
    assert "## greet\n\nGreet somebody by name." in page
    assert "| `greeting` | The words to say. |" in page


def test_a_tool_is_two_files(copy):
    copy.write("search/greeting.py", TOOL)
    copy.insert("search/tools.py", "TOOLS: tuple[Tool, ...] = (\n", TOOL_ROW % "search")
    copy.insert(
        "search/tools.py", "from triseek.model.tool import Tool\n",
        "from triseek.search import greeting\n",
    )  # fmt: skip
    assert len(copy.touched) == 2
    copy.python("-m", "tests.prepared_answers")  # a part of `make golden`
    assert_served(copy, "search")


def test_a_wing_is_a_folder_and_a_line(copy):
    copy.write("toy/__init__.py", '"""A toy."""\n')
    copy.write("toy/greeting.py", TOOL)
    copy.write("toy/wing.py", WING % (TOOL_ROW % "toy"))
    copy.write("toy/commands.py", COMMANDS)
    memo = '    "memo": ("memo", ("memo",)),\n'
    copy.insert("app/wings.py", memo, memo.replace("memo", "toy"))
    assert {name for name in copy.touched if not name.startswith("toy/")} == {"app/wings.py"}
    assert_served(copy, "toy")
    assert copy.run("toy", "wave") == "waving\n"
    assert "A toy." in copy.run("--help")


def test_an_agent_is_a_file_and_a_line(copy):
    copy.write("agents/fake_agent.py", AGENT)
    copy.insert("agents/registry.py", '    "zed",\n', '    "fake_agent",\n')
    assert len(copy.touched) == 2
    settings = copy.home / ".fake/settings.json"
    settings.parent.mkdir()
    original = b'{\r\n\t"theme": "dark" ,  "hooks": {"AfterTool": []}}\r\n'
    settings.write_bytes(original)

    copy.run("install", "fake-agent")
    installed = json.loads(settings.read_bytes())
    assert installed["mcpServers"]["triseek"]["args"] == ["mcp", "serve"]
    assert "--harness fake-agent" in installed["hooks"]["AfterTool"][0]["hooks"][0]["command"]

    assert "Fake Agent" in doctor(copy)

    (copy.home / "seen.py").write_text("one = 1\n")
    subprocess.run(["git", "init", "-q", str(copy.home)], check=True)
    payload = {
        "session_id": "s1",
        "hook_event_name": "AfterTool",
        "tool_name": "look",
        "tool_input": {"file_path": "seen.py"},
        "tool_response": "one = 1\n",
        "cwd": str(copy.home),
    }
    with copy.daemon():
        copy.run("session", "open", "a goal", TRISEEK_NO_DAEMON="")
        copy.run(
            "hook", "AfterTool", "--harness", "fake-agent",
            stdin=json.dumps(payload), TRISEEK_NO_DAEMON="",
        )  # fmt: skip
        seen = copy.run("memo", "status", "seen.py", "--json", TRISEEK_NO_DAEMON="")
        assert json.loads(seen)["results"][0]["read_count"] == 1
        handed = json.loads(copy.run("handoff", "fake-agent", "--json", TRISEEK_NO_DAEMON=""))
        assert handed["to"] == "fake_agent"
        assert "triseek" in (copy.home / "FAKE.md").read_text()
    assert " or fake." in " ".join(copy.run("handoff", "--help").split())

    copy.run("uninstall", "fake-agent")
    assert settings.read_bytes() == original


def doctor(copy: Copy) -> str:
    """What the doctor prints; its status says only whether there is a problem."""
    done = subprocess.run(
        [sys.executable, "-m", "triseek", "doctor", "--json"],
        capture_output=True, text=True, cwd=copy.home, env=copy.environment(), check=False,
        timeout=120,
    )  # fmt: skip
    return done.stdout


def test_an_rg_flag_is_four_files(copy):
    (copy.home / "a.txt").write_text("needle\n")
    copy.insert(
        "cli/flags.py", '"Remove white space at the beginning of lines."),\n',
        '        _switch("shout", "", "Show paths in capitals."),\n',
    )  # fmt: skip
    copy.insert("cli/low_args.py", "self.trim = False\n", "        self.shout = False\n")
    copy.insert("cli/render/style.py", "    trim: bool = False\n", "    shout: bool = False\n")
    copy.insert(
        "cli/render/style.py", '"""Return a path with the requested separators and colour."""\n',
        "        path = path.upper() if self.shout else path\n",
    )  # fmt: skip
    assert len(copy.touched) <= 4
    assert copy.run("needle", "--shout", "-H", ".") == "./A.TXT:needle\n"
    assert "Show paths in capitals." in copy.run("search", "--help")
