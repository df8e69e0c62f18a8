"""The base class of agents, and what an install needs: the place, the edits and their traces.

An agent's plan is a list of edits. Each edit names a file and puts one entry of ours into its text:

- `entries.JsonMember`: a member of an object in a JSON file, such as `mcpServers.triseek`;
- `entries.JsonDefault`: a member that must exist, with any value, such as `version`;
- `hook_entries.HookItem`: an item in a list of hooks;
- `toml_edits.TomlTable`: a table in a TOML file;
- `own_files.OwnFile`: a whole file of our own, recognized by a marker in it.

`apply` turns plans into bytes, writes all of them or none, and undoes them by the ledger. An agent
only declares its edits and takes no part in either.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, TypeAlias, TypedDict

from triseek.agents.listing import Question

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from triseek.agents.listing import Listed, Ran
    from triseek.agents.payloads.fields import Fields
    from triseek.model.conversation import Mark, Record
    from triseek.model.hook_event import HookEvent, Moment

Scope: TypeAlias = Literal["user", "project", "local"]
"""user: everywhere; project: here, for everybody who has the tree; local: here, for oneself."""
ShownForm: TypeAlias = Literal["structured", "text", "both"]
"""What a model sees of an MCP result that has both: its `structuredContent`, its text, or both."""
NAME = "triseek"
"""Our name in every config file."""
TOOLSETS_OPTION = "--toolsets"
"""The option of `triseek mcp serve` that selects the tools."""


class Refused(Exception):
    """An edit cannot be made; the message gives the reason in one line, without the file's name."""


class Distrust(NamedTuple):
    """Why an agent ignores a project's settings."""

    reason: str
    """The fact, one line."""
    remedy: str
    """What the person can do, one line."""


class ServerEntry(TypedDict):
    """The fields of our MCP server that most agents name alike."""

    command: str
    args: list[str]


@dataclass(frozen=True, slots=True)
class InstallPlace:
    """Where an install happens: the only source of folders and environment variables."""

    program: str
    """Absolute path of the triseek program."""
    home: str
    """The user's home folder."""
    cwd: str
    """The project's folder, absolute, for the scopes that have one."""
    environ: Mapping[str, str]
    toolsets: str = ""
    """The toolsets that the server is to offer, separated by commas; "" for the default."""

    def in_home(self, *names: str) -> str:
        """Return a path below the home folder."""
        return os.path.join(self.home, *names)  # noqa: PTH118

    def in_project(self, *names: str) -> str:
        """Return a path below the project's folder."""
        return os.path.join(self.cwd, *names)  # noqa: PTH118

    def folder(self, variable: str, *otherwise: str) -> str:
        """Return the folder that a variable names, or one below the home folder."""
        value = self.environ.get(variable)
        return os.path.join(self.cwd, value) if value else self.in_home(*otherwise)  # noqa: PTH118

    def server(self, *arguments: str) -> ServerEntry:
        """Return the entry of our MCP server, with further arguments and the toolsets."""
        chosen = (TOOLSETS_OPTION, self.toolsets) if self.toolsets else ()
        return {"command": self.program, "args": ["mcp", "serve", *arguments, *chosen]}

    def first_found(self, programs: Sequence[str], folders: Sequence[str]) -> str:
        """Return the first of the programs on PATH, else the first folder that exists, else ""."""
        paths = (shutil.which(name, path=self.environ.get("PATH", "")) for name in programs)
        first = next((path for path in paths if path), "")
        return first or next((name for name in folders if os.path.isdir(name)), "")  # noqa: PTH112


@dataclass(slots=True)
class Traces:
    """What edits changed in one file, kept in the ledger so that they can be undone.

    Keys are paths of names in the file, as JSON: `["mcpServers","triseek"]`.
    """

    made: list[str] = field(default_factory=list)
    """Containers that did not exist before."""
    hollow: dict[str, str] = field(default_factory=dict)
    """The text between the brackets of containers that were empty."""
    replaced: dict[str, str] = field(default_factory=dict)
    """The text of values that ours replaced."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One entry of ours in one file. Texts have the file's own line ends; None means no file.

    Its fields are JSON: the ledger keeps them, and makes the edit from them again.
    """

    kind: ClassVar[str]
    """The name of its class in the ledger."""
    path: str
    """The file's absolute path; it may be a link, and need not exist."""

    def stands(self, text: str | None) -> bool:
        """Whether the text already contains exactly this entry.

        Raises:
            Refused: the text cannot be parsed.
        """
        raise NotImplementedError

    def apply(self, text: str | None, traces: Traces) -> str | None:
        """Return the text with our entry in it.

        Raises:
            Refused: the text cannot be parsed, or an entry that is not ours is in its place.
        """
        raise NotImplementedError

    def remove(self, text: str | None, traces: Traces) -> str | None:
        """Return the text without the entry, whatever else has changed; None if nothing is left.

        Raises:
            Refused: the text cannot be parsed.
        """
        raise NotImplementedError


class TranscriptReader:
    """Reads the conversations that one agent keeps on disk. Stateless: threads may share it.

    An agent's file has a subclass for its own format and sets `Agent.transcripts`. `history`
    decides when a source is read, and stores what it yields.
    """

    appends: ClassVar[bool] = True
    """Whether its files only grow, so that `Mark.offset` is an offset in bytes. Other sources are
    read as a whole, or know by themselves what is new, such as a database."""
    evidence: ClassVar[str] = ""
    """Where the format is known from: the version that wrote the fixtures, or a page; one line."""
    retention: ClassVar[str] = ""
    """What the agent deletes by itself, and when; one line for people."""

    def sources(self, here: InstallPlace) -> Iterator[str]:
        """Yield the absolute paths of the files and databases that hold conversations."""
        raise NotImplementedError

    def read(self, path: str, mark: Mark) -> Iterator[Record | Mark]:
        """Yield the records of a source from a mark on.

        A `Mark` means that all records before it are complete: what is read later goes on from
        there. At least one is yielded at the end. A record may be yielded again after that; its
        id is the same then. A line that is half written is left for the next time.

        Raises:
            OSError: The source cannot be read.
        """
        raise NotImplementedError

    def resume(self, conversation: str) -> Sequence[str]:
        """Return the command that reopens a conversation in the agent; empty if there is none."""
        del conversation
        return ()


class Agent:
    """An agent, or an editor with one: everything specific to it.

    Each agent is a subclass in its own file; `registry` lists them. The defaults here are for
    agents that do not have a feature.
    """

    name: ClassVar[str]
    """Its name in `triseek install NAME` and in the commands of its hooks."""
    title: ClassVar[str]
    """Its name as its makers write it."""
    scopes: ClassVar[tuple[Scope, ...]] = ("user", "project")
    """The values of `--scope`; the first is the default."""
    programs: ClassVar[tuple[str, ...]] = ()
    """The names that its program may have on PATH."""
    answers_quickly: ClassVar[bool] = False
    """Whether it answers `question` within a second or two."""
    client_names: ClassVar[tuple[str, ...]] = ()
    """How the client name begins that it sends to MCP servers, in lower case."""
    shown_form: ClassVar[ShownForm | None] = None
    """What its model sees of an MCP result; None if that was never observed."""
    shown_form_evidence: ClassVar[str] = ""
    """The version in which `make clients` observed it, or the page that says so."""

    handoff_name: ClassVar[str] = ""
    """Its name in snapshots; "" if no work is handed over to it."""
    handoff_title: ClassVar[str] = ""
    """Its name where a person is told whom the work is for; `title` if empty."""
    aliases: ClassVar[tuple[str, ...]] = ()
    """Other names that people and programs use for it, lower case, with underscores."""
    paste: ClassVar[str] = "/triseek resume {id}"
    """The text that a person pastes into it to continue from a snapshot."""
    project_files: ClassVar[tuple[str, ...]] = ()
    """Files of a project that it reads when it starts: the first one that exists."""
    own_file: ClassVar[str] = ""
    """The stem of Markdown files that are primarily for it: `CLAUDE` of CLAUDE.md."""
    instructions: ClassVar[str] = ""
    """The file at a repository's root that it always has in view, wherever in there it starts."""

    transcripts: ClassVar[TranscriptReader | None] = None
    """Reads the conversations that it keeps on disk; None if there is no reader."""
    keeps_record: ClassVar[bool] = False
    """Whether it keeps a record of what is in its model's view."""
    clears_silently: ClassVar[bool] = False
    """Whether it clears old outputs when there are many, without recording it."""
    tells_compaction_once: ClassVar[bool] = False
    """Whether it reports a compaction before it happens and not after."""

    context_moment: ClassVar[Moment] = "start"
    """The moment at which its hook's answer may hold `start_context`: the start, or a prompt."""

    project_folder: ClassVar[str] = ""
    """Its folder in a project, `.name`; usually also the one in the home folder."""
    after_install: ClassVar[tuple[str, ...]] = ()
    """What the person has to do after an install, a sentence each."""
    after_project_install: ClassVar[tuple[str, ...]] = ()
    """What the person has to do, too, after an install for a project."""
    question_words: ClassVar[tuple[str, ...]] = ()
    """The command that prints what it knows of our server; empty if there is none."""

    def detect(self, here: InstallPlace) -> str:
        """Return the program or folder that shows it is installed; "" if it is not."""
        return here.first_found(self.programs, self.data_folders(here))

    def user_folder(self, here: InstallPlace) -> str:
        """Return the folder of the person's settings."""
        return here.in_home(self.project_folder)

    def data_folders(self, here: InstallPlace) -> Sequence[str]:
        """Return the folders that show it is installed, even without a program on PATH."""
        return (self.user_folder(here),)

    def folder(self, scope: Scope, here: InstallPlace) -> str:
        """Return the folder of its settings in a scope."""
        return self.user_folder(here) if scope == "user" else here.in_project(self.project_folder)

    def path(self, scope: Scope, here: InstallPlace, *names: str) -> str:
        """Return a path below the folder of its settings in a scope."""
        return os.path.join(self.folder(scope, here), *names)  # noqa: PTH118

    def plan(self, scope: Scope, here: InstallPlace) -> list[Edit]:
        """Return all edits to its files, in order."""
        raise NotImplementedError

    def advice(self, scope: Scope) -> list[str]:
        """Return what the person has to do after an install, a sentence each."""
        return [*self.after_install, *(self.after_project_install if scope == "project" else ())]

    def distrusts(self, here: InstallPlace) -> Distrust | None:  # noqa: ARG002 - for subclasses
        """Return why it ignores this project's settings; None if it is not known to."""
        return None

    def question(self, version: str) -> Question | None:  # noqa: ARG002 - for subclasses
        """Return the query for what it knows of us; None if it cannot be asked."""
        return Question(self.question_words, self.listed) if self.question_words else None

    def listed(self, ran: Ran) -> Listed:
        """Read what `question_words` printed."""
        raise NotImplementedError

    def owns(self, payload: Fields) -> bool:  # noqa: ARG002 - for subclasses
        """Whether a hook's payload can only come from this agent."""
        return False

    def read(self, payload: Fields, event: str, cwd: str) -> HookEvent | None:  # noqa: ARG002
        """Return the hook event that a payload describes; None if the agent has no hooks.

        Args:
            payload: Untrusted input.
            event: The event the hook was registered for; used if the payload names none.
            cwd: The folder the hook ran in, absolute; used if the payload names none.
        """
        return None

    def in_view(self, event: HookEvent) -> frozenset[str] | None:  # noqa: ARG002 - for subclasses
        """Return the ids of uses whose outputs are in view by its record; None if unknown."""
        return None

    def exit_statuses(self, event: HookEvent, calls: Collection[str]) -> dict[str, int]:  # noqa: ARG002
        """Return the exit statuses of these uses that its record has, by the ids of the uses.

        For an agent whose hooks do not report them.
        """
        return {}

    def refusal(self, reason: str, context: str) -> str:  # noqa: ARG002 - for subclasses
        """Return the hook's answer that refuses a tool; "" if the agent takes no refusals.

        Args:
            reason: The text the model gets instead of the tool's output.
            context: Further text for the model, where the answer has a field for it.
        """
        return ""

    def start_context(self, text: str) -> str:  # noqa: ARG002 - for subclasses
        """Return the hook's answer that shows a text to the model when a conversation starts.

        "" if the agent takes none.
        """
        return ""

    def project_file(self, root: str) -> str:
        """Return the project file that it reads, existing or not, relative to the root.

        Where it reads only the first of several names, the existing file is chosen: a new file
        whose name takes precedence would hide it.
        """
        return first_existing(self.project_files, root)


def first_existing(names: Sequence[str], root: str) -> str:
    """Return the first file that exists; else AGENTS.md if it is among them, else the first."""
    default = "AGENTS.md" if "AGENTS.md" in names else names[0]
    return next((name for name in names if os.path.lexists(os.path.join(root, name))), default)  # noqa: PTH118


def own_names(names: object) -> tuple[str, ...]:
    """Return those names of a configuration's list that have no folder part."""
    listed = names if isinstance(names, list) else []
    texts = [name for name in listed if isinstance(name, str)]
    return tuple(name for name in texts if os.path.basename(name) == name)  # noqa: PTH119
