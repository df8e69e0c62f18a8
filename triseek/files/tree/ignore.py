"""Ignore rules as ripgrep applies them: ignore files of every kind, and the allow-list.

The rules are those of ripgrep 15.1.0, whose order is, strongest first: `-g` globs; `.rgignore`;
`.ignore`; `.gitignore`; `.git/info/exclude`; git's global excludes; `--ignore-file`; then types;
then hiddenness. Within a kind the nearest folder wins. Git's ignore files apply only inside a
repository, which is a folder that holds `.git` or `.jj`, and not above that folder.

Rules of an ignore file are matched against paths relative to its own folder. Those of
`--ignore-file` and git's global excludes are matched against paths as the operand was typed,
relative to the working folder (`query.globs.rule_paths`).

Each folder of a walk has `Rules`: all rule sets that apply to its entries, in that order, so that
the first match decides. Folders without ignore files share their parent's `Rules`. One search over
all names of a folder finds out whether any rule can match, and for nearly all folders none does:
that is what makes a walk in Python fast.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from triseek.errors import InvalidQuery
from triseek.files import access
from triseek.query.globs.gitignore import RuleSet, parse_line, wrap
from triseek.query.globs.rule_paths import AS_IT_IS, RulePrefix

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from triseek.model.search import ScopeSpec
    from triseek.query.globs.gitignore import Rule

ALLOWED_DIRS = frozenset(
    b".github .gitlab .circleci .buildkite .azuredevops .ci .devcontainer .vscode .idea .run "
    b".husky .changeset .storybook .cargo .mvn .claude .cursor .codex .well-known .platform "
    b".ebextensions .streamlit .dvc".split()
)
"""Hidden folders at the top of a root that the allow-list shows."""

ALLOWED_FILES = frozenset(
    b".gitignore .gitattributes .gitmodules .git-blame-ignore-revs .mailmap .editorconfig "
    b".gitlab-ci.yml .dockerignore .npmrc .nvmrc .node-version .python-version .ruby-version "
    b".tool-versions .terraform-version .terraform.lock.hcl .bazelrc .buckconfig .clang-format "
    b".clang-tidy .coveragerc .ruff.toml .yamllint .prettierignore .prettierrc.mjs .eslintignore "
    b".stylelintignore .markdownlint.json .markdownlint.jsonc .env.example .env.sample "
    b".env.template".split()
).union(
    stem + variant
    for stem in (b".prettierrc", b".eslintrc", b".stylelintrc")
    for variant in (b"", b".json", b".yml", b".yaml", b".js", b".cjs")
)
"""Hidden files at the top of a root that the allow-list shows."""

IGNORE_NAMES = (b".gitignore", b".ignore", b".rgignore")
REPOSITORY = (b".git", b".jj")
"""The entries that mark a folder as the top of a repository."""

_EXCLUDES_FILE = re.compile(rb'(?im)^\s*excludesfile\s*=\s*"?\s*(\S+?)\s*"?\s*$')


@dataclass(frozen=True, slots=True, eq=False)
class Rules:
    """All rule sets that apply to the entries of one folder, strongest first."""

    layers: tuple[tuple[RuleSet, RulePrefix], ...]
    """The rule sets, each with how entries are named when it is matched."""
    frame: _Frame

    def decide(
        self, folder: bytes, files: Sequence[bytes], dirs: Sequence[bytes]
    ) -> tuple[dict[bytes, bool], dict[bytes, bool]]:
        """Return the verdicts on the entries that a rule matches, for files and for folders.

        A verdict is True if the entry is listed, False if it is ignored. `folder` is relative to
        the root, empty or ending in `/`.
        """
        file_verdicts: dict[bytes, bool] = {}
        dir_verdicts: dict[bytes, bool] = {}
        names = [*files, *dirs]
        blob = wrap(names)
        for rules, seen in self.layers:
            if not names or not seen.touches(rules, folder, names, blob):
                continue
            file_verdicts = seen.decide(rules, folder, files, dirs=False) | file_verdicts
            dir_verdicts = seen.decide(rules, folder, dirs, dirs=True) | dir_verdicts
        return file_verdicts, dir_verdicts


@dataclass(frozen=True, slots=True, eq=False)
class _Frame:
    """The rule sets of one folder, linked to those of the folder above."""

    parent: _Frame | None
    seen: RulePrefix
    """How paths are named when its rules are matched."""
    sets: tuple[RuleSet, ...]
    """Those of `.rgignore`, `.ignore`, `.gitignore` and `.git/info/exclude`."""
    has_git: bool
    in_git: bool
    """Whether git's ignore files apply here; if not, they are not even read."""
    above: bool
    """Whether the folder is above the one where the walk started."""


_NO_RULES = RuleSet(())


class IgnoreFiles:
    """Reads the ignore files of the folders of a walk."""

    def __init__(self, root: bytes, scope: ScopeSpec) -> None:
        """Read the rules that apply in every folder.

        Args:
            root: The folder that paths are relative to; absolute.
            scope: Its `no_…` flags and `ignore_files` select the kinds of ignore files that apply.
        """
        every, vcs = scope.no_ignore, scope.no_ignore or scope.no_ignore_vcs
        self.root = root
        self.invalid: list[tuple[bytes, str]] = []
        """Invalid globs in ignore files: path and reason."""
        self.failure: OSError | None = None
        """The first error by which rules that exist and are readable may be missing."""
        dot_names = () if every or scope.no_ignore_dot else (b".ignore", b".rgignore")
        self.names = frozenset((*dot_names, *(() if vcs else (b".gitignore", *REPOSITORY))))
        """The names of entries that give a folder rules of its own."""
        self._parents = not (every or scope.no_ignore_parent)
        self._vcs = not vcs
        self._exclude = not (vcs or scope.no_ignore_exclude)
        self._require_git = not scope.no_require_git
        self._seen = RulePrefix.of(scope)
        self._here = self._seen.here or root
        """The working folder; the root if none is known."""
        self.excludes = _NO_RULES
        """The rules of git's global excludes."""
        if not (vcs or scope.no_ignore_global) and (path := global_excludes_path()):
            self.excludes = self.read(os.path.join(self._here, path))  # noqa: PTH118
        self._explicit = [
            self.read(os.path.join(self._here, os.fsencode(path)), must=True)  # noqa: PTH118
            for path in reversed(() if scope.no_ignore_files else scope.ignore_files)
        ]

    def start(self, folder: bytes) -> Rules:
        """Return the rules from all folders above a walk that starts in `folder`.

        `folder` is relative to the root.
        """
        frame = _Frame(None, AS_IT_IS, (_NO_RULES,) * 4, False, not self._require_git, True)
        if not (self._parents or self._vcs):
            return self._rules(frame)
        base = os.path.realpath(os.path.join(self.root, folder))  # noqa: PTH118
        start = folder + b"/" if folder else b""
        for parent in folders_above(base):
            inside = base[len(parent) :].lstrip(b"/") + b"/"
            frame = self._frame(frame, parent, self.names, RulePrefix(start, inside), above=True)
        return self._rules(frame)

    def enter(self, rules: Rules, folder: bytes, special: Iterable[bytes]) -> Rules:
        """Return the rules inside a folder that holds these ignore files (or `.git`)."""
        path = os.path.join(self.root, folder)  # noqa: PTH118
        return self._rules(
            self._frame(rules.frame, path, special, RulePrefix(folder, b""), above=False)
        )

    def _frame(
        self,
        parent: _Frame,
        path: bytes,
        special: Iterable[bytes],
        seen: RulePrefix,
        *,
        above: bool,
    ) -> _Frame:
        present = set(special)
        has_git = self._is_repository(path, present, above=above)
        # Git's files do not apply above a repository that begins further down either.
        in_git = parent.in_git or has_git
        if not in_git:
            present -= {b".gitignore", b".git"}

        def read(name: bytes) -> RuleSet:
            return self.read(path.rstrip(b"/") + b"/" + name) if name in present else _NO_RULES

        exclude = _NO_RULES
        if self._exclude and b".git" in present:
            source: bytes | None = path + b"/.git/info/exclude"
            if self._require_git:
                source = _exclude_path(self._here, path.rstrip(b"/") + b"/.git")
            exclude = self.read(source) if source else _NO_RULES
        sets = (read(b".rgignore"), read(b".ignore"), read(b".gitignore"), exclude)
        return _Frame(parent, seen, sets, has_git, in_git, above)

    def _is_repository(self, path: bytes, present: set[bytes], *, above: bool) -> bool:
        """Return whether git's files of the folders above do not apply here; links are followed.

        With `--no-require-git` ripgrep still stops at `.jj`, in the folders it walks.
        """
        if above and not self._require_git:
            return False
        markers = REPOSITORY if self._require_git else (b".jj",)
        return any(name in present and self._exists(path, name) for name in markers)

    def _rules(self, frame: _Frame) -> Rules:
        """Collect all rule sets that apply, strongest first."""
        active: list[_Frame] = []
        inside: list[_Frame] = []  # those of the active ones in the folder's repository
        at: _Frame | None = frame
        in_repository = frame.in_git
        while at is not None:
            if self._parents or not at.above:
                active.append(at)
                if in_repository:
                    inside.append(at)
            in_repository = in_repository and not at.has_git
            at = at.parent
        layers = [
            (link.sets[kind], link.seen)
            for kind, links in enumerate((active, active, inside, inside))
            for link in links
            if link.sets[kind]
        ]
        if frame.in_git and self.excludes:
            layers.append((self.excludes, self._seen))
        layers += [(rules, self._seen) for rules in self._explicit if rules]
        return Rules(tuple(layers), frame)

    def _exists(self, folder: bytes, name: bytes) -> bool:
        try:
            return access.exists(folder.rstrip(b"/") + b"/" + name)
        except OSError as error:
            self.failure = self.failure or error
            return False

    def read(self, path: bytes, *, must: bool = False) -> RuleSet:
        """Return the rules of one ignore file; none if it cannot be read."""
        try:
            # A file named on the command line may be a pipe.
            with open(path if must else access.open_regular(path), "rb") as file:  # noqa: PTH123
                data = file.read()
        except OSError as error:
            # An error without a number: it is not a regular file.
            if self.failure is None and error.errno and not access.is_unseen(error):
                self.failure = error
            return _NO_RULES
        return RuleSet(self._lines(path, data))

    def _lines(self, path: bytes, data: bytes) -> list[Rule]:
        rules: list[Rule] = []
        for number, raw in enumerate(data.split(b"\n"), 1):
            try:
                line = raw.removesuffix(b"\r").decode()
                line = line.lstrip("\ufeff") if number == 1 else line
                rule = parse_line(line, unclosed_class=True)
            except UnicodeDecodeError:
                break  # ripgrep stops reading at the first line that is not UTF-8
            except InvalidQuery as error:
                self.invalid.append((path, f"line {number}: {error}"))
                continue
            if rule is not None:
                rules.append(rule)
        return rules


def excludes_see_folders(root: str, scope: ScopeSpec) -> bool:
    """Return whether git's global excludes apply and have a glob that matches more than a name."""
    ignore = IgnoreFiles(os.fsencode(root), scope)
    return not all(rule.name_only for rule in ignore.excludes.rules)


def faults_above(folder: bytes, scope: ScopeSpec) -> list[tuple[bytes, str]]:
    """Return the invalid globs in ignore files of the folders above: path and reason.

    For these ripgrep exits with 2; for those in the folders it walks it only prints a message.
    """
    # ripgrep reads git's files of the folders above even outside of a repository.
    scope = replace(scope, no_ignore_global=True, no_ignore_files=True, no_require_git=True)
    ignore = IgnoreFiles(folder, scope)
    ignore.start(b"")
    return ignore.invalid


def global_excludes_path() -> bytes | None:
    """Return the path of git's global excludes file as ripgrep finds it; it need not exist."""
    home = os.environb.get(b"HOME")
    config = os.environb.get(b"XDG_CONFIG_HOME") or (home + b"/.config" if home else b"")
    candidates = [(home, b"/.gitconfig"), (config, b"/git/config")]
    for folder, name in candidates:
        match = _EXCLUDES_FILE.search(_content(folder + name)) if folder else None
        if match:
            return match[1].replace(b"~", home) if home else match[1]
    return config + b"/git/ignore" if config else None


def exclude_sources(root: bytes, git: bytes) -> list[bytes]:
    """Return the files that determine a repository's `info/exclude`, and that file; absolute.

    `git` is the absolute path of its `.git`. In a worktree or submodule that is a file which names
    a folder, and `commondir` in that folder names the folder that holds `info`. Any of them may be
    absent; a path that ends in `/.` exists once the `.git` file has become a folder.
    As in ripgrep, a relative path is resolved from `root`.
    """
    if not os.path.isfile(git):  # noqa: PTH113
        return [os.path.join(git, b"info", b"exclude")]  # noqa: PTH118
    as_folder, line = os.path.join(git, b"."), _first_line(git)  # noqa: PTH118
    if line is None or not line.startswith(b"gitdir: "):
        return [as_folder]
    real = os.path.join(root, line[len(b"gitdir: ") :])  # noqa: PTH118
    pointer = os.path.join(real, b"commondir")  # noqa: PTH118
    common = _first_line(pointer)
    if common is None:
        return [as_folder, pointer]
    start = real if common.startswith(b".") else root
    return [as_folder, pointer, os.path.join(start, common, b"info", b"exclude")]  # noqa: PTH118


def exclude_file(start: bytes, git: bytes) -> bytes | None:
    """Return the `info/exclude` of a `.git`, with relative paths resolved from `start`; or None."""
    path = _exclude_path(start, git)
    return path if path and os.path.isfile(path) else None  # noqa: PTH113


def _exclude_path(start: bytes, git: bytes) -> bytes | None:
    """Return what `exclude_file` does, whether or not the file exists."""
    last = exclude_sources(start, git)[-1]
    return last if last.endswith(b"/info/exclude") else None


def folders_above(folder: bytes) -> list[bytes]:
    """Return all folders above an absolute path, outermost first."""
    parents: list[bytes] = []
    while (parent := os.path.dirname(folder)) != folder:  # noqa: PTH120
        parents.append(parent)
        folder = parent
    return parents[::-1]


def _first_line(path: bytes) -> bytes | None:
    """Return a file's first line as ripgrep reads it; None if it is missing or not UTF-8."""
    content = _content(path)
    line = content.split(b"\n", 1)[0].removesuffix(b"\r")
    return line if content and line == line.decode(errors="replace").encode() else None


def _content(path: bytes) -> bytes:
    try:
        with open(access.open_regular(path), "rb") as file:  # noqa: PTH123
            return file.read()
    except OSError:
        return b""
