"""What a shell command runs: its programs, and the form in which two runs of it are the same.

Agents wrap commands: they go to a folder first, set variables, bound the time and cut the output
with `| tail`. `cd /repo && CI=1 uv run pytest -q tests 2>&1 | tail -5` runs `pytest -q tests`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from triseek.agents.shell.shell_words import Step, steps

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_WRAPPERS = frozenset(
    ("time", "nice", "nohup", "sudo", "env", "npx", "bunx", "pnpx", "command", "exec", "stdbuf", "xvfb-run")  # noqa: E501
)  # fmt: skip
_RUNNERS = frozenset(("uv", "poetry", "pdm", "hatch", "pipenv", "rye", "bundle"))
"""Programs whose `run` or `exec` runs another."""
_SUBCOMMANDS = frozenset(
    (
        "git", "cargo", "go", "npm", "yarn", "pnpm", "bun", "deno", "docker", "kubectl", "make", "just", "task",  # noqa: E501
        "mvn", "mvnw", "gradle", "gradlew", "pip", "pip3", "uv", "poetry", "apt", "apt-get", "brew", "gh",  # noqa: E501
        "dotnet", "terraform", "rake", "mix", "sbt", "swift", "bazel", "systemctl", "helm", "nox", "tox", "node",  # noqa: E501
    )
)  # fmt: skip
"""Programs whose first argument says what they do."""
_FILTERS = frozenset(("tail", "head", "grep", "rg", "sed", "awk", "cut", "sort", "uniq", "wc", "tee", "cat", "less"))  # fmt: skip  # noqa: E501
_LOOKS = frozenset(
    (
        "cd", "ls", "ll", "pwd", "echo", "printf", "which", "type", "cat", "head", "tail", "wc", "tree", "find",  # noqa: E501
        "env", "date", "true", "sleep", "stat", "file", "grep", "rg", "jq", "less", "export", "set", "source",  # noqa: E501
        "git status", "git diff", "git log", "git show", "git branch", "git rev-parse", "git ls-files",  # noqa: E501
        "git blame", "git remote", "git grep",
    )
)  # fmt: skip
_KEYWORDS = frozenset(
    ("for", "do", "done", "if", "then", "else", "elif", "fi", "while", "until", "case", "esac", "{", "}", "(", ")")  # noqa: E501
)  # fmt: skip
_NAME = re.compile(r"[\w.+@:-]+")
"""What a program's name consists of."""
_TESTS = re.compile(
    r"(?:pytest|py\.test|tox|nox|unittest|rspec|phpunit|jest|vitest|mocha|ava|ctest|cypress|playwright"
    r"|go test|cargo (?:test|nextest)|(?:npm|yarn|pnpm|bun|deno)(?: run)? \S*test\S*"
    r"|(?:make|just|task|rake|gradlew?|mvnw?|bazel|dotnet|mix|swift|sbt) \S*(?:test|check|verify|ci)\S*)\b"  # noqa: E501
)
_BUILDS = re.compile(
    r"(?:mypy|pyright|tsc|gcc|g\+\+|clang|cc|javac|rustc|ninja|cmake|meson"
    r"|go (?:build|vet|run)|cargo (?:build|check|clippy|run|bench)"
    r"|(?:npm|yarn|pnpm|bun|deno)(?: run)? \S*(?:build|check|compile)\S*"
    r"|(?:make|just|task|rake|gradlew?|mvnw?|bazel|dotnet|mix|swift|sbt)(?: \S*(?:build|compile|package|install|all)\S*)?)$"  # noqa: E501
)
_BENCHES = re.compile(
    r"bench|hyperfine|\bwrk\b|\bab -|criterion|\bperf\b|timeit|profil|measure|load[-_]?test"
)


_LEAVES_OUT = re.compile(r" --?(?:skip|deselect|ignore|exclude|testPathIgnorePatterns)\b")
"""Options by which a check leaves something out."""


class Run(NamedTuple):
    """One program that a command runs."""

    program: str
    """Its name, with the subcommand if it has them: `pytest`, `cargo test`, `npm run build`."""
    text: str
    """The words that matter, joined by blanks: without wrappers, variables and redirections."""
    folder: str
    """Where it runs: the argument of the `cd` before it; "" for the conversation's folder."""
    operands: frozenset[str]
    """Arguments that are not options."""
    is_filtered: bool
    """Whether a pipe or `||` hides its exit status."""

    @property
    def is_test(self) -> bool:
        """Whether it runs tests."""
        return _TESTS.match(self.program) is not None

    @property
    def is_check(self) -> bool:
        """Whether its failure says that the code is wrong: a test, a build, a type check."""
        return self.is_test or _BUILDS.match(self.program) is not None

    @property
    def is_bench(self) -> bool:
        """Whether it measures something."""
        return _BENCHES.search(self.text) is not None

    def covers(self, other: Run, names: frozenset[str] = frozenset()) -> bool:
        """Whether a run of this that passes says that the other would pass, too.

        names: Files and tests that failed in the other one; to run just these is enough.
        """
        if self.program != other.program or self.folder != other.folder:
            return False
        if self.text != other.text and _LEAVES_OUT.search(self.text):
            return False
        is_all = not self.operands or "./..." in self.operands
        if self.text == other.text or is_all or self.operands == other.operands:
            return True
        return bool(names) and all(any(name in it for it in self.operands) for name in names)


def only_looks(command: str) -> bool:
    """Return whether a command runs nothing but what `runs_of` leaves out, such as `cat`."""
    words = _unwrapped(command.split())
    return bool(words) and (words[0] in _LOOKS or _program(words) in _LOOKS)


@lru_cache(maxsize=4_096)
def runs_of(command: str) -> tuple[Run, ...]:
    """Return what a command runs, in order; nothing that only looks or cuts an output.

    A command that cannot be split (here documents, subshells) is split roughly.
    """
    parsed = steps(command)
    if parsed is None:
        parsed = _roughly(command)
    runs: list[Run] = []
    folder = ""
    for at, step in enumerate(parsed):
        words = ["…" if word is None else word for word in step.words]
        if words[:1] == ["cd"] and len(words) == 2:
            folder = words[1]
            continue
        if step.joiner == "|" and words and words[0] in _FILTERS:
            continue
        after = parsed[at + 1].joiner if at + 1 < len(parsed) else ""
        run = _run(words, folder, is_filtered=after in ("|", "||", ";"))
        if run is not None:
            runs.append(run)
    return tuple(runs)


def main_run(runs: tuple[Run, ...]) -> Run | None:
    """Return the run that a command is about: the last check, else the last one; None if none."""
    checks = tuple(run for run in runs if run.is_check)
    return (checks or runs or (None,))[-1]


def _run(words: list[str], folder: str, *, is_filtered: bool) -> Run | None:
    words = _unwrapped(words)
    if not words:
        return None
    if not _NAME.fullmatch(words[0]):
        return None
    program = _program(words)
    if program in _LOOKS or words[0] in _LOOKS:
        return None
    count = len(program.split())
    operands = frozenset(word for word in words[count:] if not word.startswith("-"))
    text = " ".join(program.split()[:count] + words[count:])
    return Run(program[:100], text[:500], folder, operands, is_filtered)


def _unwrapped(words: list[str]) -> list[str]:
    """Return the words without variables and the programs that only run others."""
    while words:
        name = words[0].rpartition("/")[2]
        if _ASSIGNMENT.match(words[0]) or (name in _WRAPPERS and len(words) > 1):
            words = words[1:]
            while (
                words
                and name in ("env", "nice", "sudo", "npx", "stdbuf")
                and words[0].startswith("-")
            ):
                words = words[1:]
        elif name == "timeout" and len(words) > 2:
            words = words[1:]
            while len(words) > 2 and words[0].startswith("-"):
                words = words[2 if words[0] in ("-k", "-s") else 1 :]
            words = words[1:]
        elif name in _RUNNERS and len(words) > 2 and words[1] in ("run", "exec"):
            words = words[2:]
            while len(words) > 1 and words[0].startswith("-"):
                words = words[1:]
        elif re.fullmatch(r"python[\d.]*|py", name) and words[1:2] == ["-m"] and len(words) > 2:
            words = words[2:]
        else:
            return [name, *words[1:]]
    return []


def _program(words: list[str]) -> str:
    name = words[0]
    if re.fullmatch(r"python[\d.]*|node|bash|sh|ruby|perl", name):
        script = next((word for word in words[1:2] if not word.startswith("-")), "")
        return f"{name} {script}".strip()
    if name not in _SUBCOMMANDS or len(words) < 2 or words[1].startswith("-") or "=" in words[1]:
        return name
    if words[1] == "run" and len(words) > 2:
        return f"{name} run {words[2]}"
    return f"{name} {words[1]}"


def _roughly(command: str) -> tuple[Step, ...]:
    """Return the steps of a command that only a shell can evaluate, up to its first document."""
    text = command[:2_000]
    document = text.find("<<")
    if document >= 0:
        text = text[: text.find("\n", document) if "\n" in text[document:] else None]
    steps: list[Step] = []
    for joiner, part in re.findall(r"(^|&&|\|\||;|\||\n)([^&|;\n]+)", text.replace("2>&1", "")):
        words = tuple(part.split())
        if words and words[0] not in _KEYWORDS:
            steps.append(Step(joiner.replace("\n", ";"), words, ()))
    return tuple(steps)
