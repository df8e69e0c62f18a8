"""What ripgrep leaves out of a folder: ignore files of every kind, hidden names, the allow-list.

The rules are those of ripgrep 15.1.0, whose order is, strongest first: `-g` globs; `.rgignore`;
`.ignore`; `.gitignore`; `.git/info/exclude`; git's global excludes; `--ignore-file`; then types;
then hiddenness. Within a kind the nearest folder wins. Git's files count only inside a
repository, which is a folder that holds `.git` or `.jj`, and not beyond that folder.

Rules of an ignore file see paths relative to its own folder. `--ignore-file` and git's global
excludes see them as the operand was typed, relative to the working folder (`query.seen`).

Each folder of a walk has `Rules`: every rule set that speaks about its entries, already in that
order, so that the first that matches decides. Folders without ignore files share their
parent's `Rules`, and one search over all names of a folder tells that nothing in it matches,
which is so nearly everywhere: that is what makes a walk in Python fast.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from triseek.errors import InvalidQuery
from triseek.files import absence
from triseek.files.containment import as_regular
from triseek.query.globs import RuleSet, parse_line, wrap
from triseek.query.seen import AS_IT_IS, Seen

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from triseek.model.search import ScopeSpec
    from triseek.query.globs import Rule

ALLOWED_DIRS = frozenset(
    b".github .gitlab .circleci .buildkite .azuredevops .ci .devcontainer .vscode .idea .run "
    b".husky .changeset .storybook .cargo .mvn .claude .cursor .codex .well-known .platform "
    b".ebextensions .streamlit .dvc".split()
)
"""Hidden folders at the top of a root that the allow-list shows."""

_VARIANTS = (b"", b".json", b".yml", b".yaml", b".js", b".cjs")
ALLOWED_FILES = frozenset(
    [
        *(
            b".gitignore .gitattributes .gitmodules .git-blame-ignore-revs .mailmap .editorconfig "
            b".gitlab-ci.yml .dockerignore .npmrc .nvmrc .node-version .python-version "
            b".ruby-version .tool-versions .terraform-version .terraform.lock.hcl .bazelrc "
            b".buckconfig .clang-format .clang-tidy .coveragerc .ruff.toml .yamllint "
            b".prettierignore .prettierrc.mjs .eslintignore .stylelintignore .markdownlint.json "
            b".markdownlint.jsonc .env.example .env.sample .env.template".split()
        ),
        *(
            stem + variant
            for stem in (b".prettierrc", b".eslintrc", b".stylelintrc")
            for variant in _VARIANTS
        ),
    ]
)
"""Hidden files at the top of a root that the allow-list shows."""

REPOSITORY = (b".git", b".jj")
"""What makes a folder the top of a repository."""

_EXCLUDES_FILE = re.compile(rb'(?im)^\s*excludesfile\s*=\s*"?\s*(\S+?)\s*"?\s*$')


@dataclass(frozen=True, slots=True)
class Options:
    """Which kinds of ignore files count."""

    dot: bool
    """`.ignore` and `.rgignore`."""
    vcs: bool
    """`.gitignore`."""
    exclude: bool
    """`.git/info/exclude`."""
    global_: bool
    """Git's global excludes."""
    parents: bool
    """Ignore files above the walked folder."""
    require_git: bool
    explicit: tuple[str, ...]
    """`--ignore-file`."""

    @classmethod
    def of(cls, spec: ScopeSpec) -> Options:
        """What a scope's `no_…` flags leave."""
        every, vcs = spec.no_ignore, spec.no_ignore or spec.no_ignore_vcs
        return cls(
            dot=not (every or spec.no_ignore_dot),
            vcs=not vcs,
            exclude=not (vcs or spec.no_ignore_exclude),
            global_=not (vcs or spec.no_ignore_global),
            parents=not (every or spec.no_ignore_parent),
            require_git=not spec.no_require_git,
            explicit=() if spec.no_ignore_files else spec.ignore_files,
        )

    @property
    def names(self) -> frozenset[bytes]:
        """The entries of a folder that make it need rules of its own."""
        found = set()
        if self.dot:
            found |= {b".ignore", b".rgignore"}
        if self.vcs:
            found |= {b".gitignore", *REPOSITORY}
        return frozenset(found)


class _Layer(NamedTuple):
    """One rule set and how it sees the entries of a folder."""

    rules: RuleSet
    seen: Seen


@dataclass(frozen=True, slots=True, eq=False)
class Rules:
    """Every rule set that speaks about the entries of one folder."""

    layers: tuple[_Layer, ...]
    frame: _Frame

    def decide(
        self, folder: bytes, files: Sequence[bytes], dirs: Sequence[bytes]
    ) -> tuple[dict[bytes, bool], dict[bytes, bool]]:
        """For entries some rule matches, whether they are taken: of the files, of the folders.

        `folder` is relative to the root, empty or ending in `/`.
        """
        file_verdicts: dict[bytes, bool] = {}
        dir_verdicts: dict[bytes, bool] = {}
        names = [*files, *dirs]
        blob = wrap(names)
        for rules, seen in self.layers:
            if not names or not seen.touches(rules, folder, names, blob):
                continue
            for name, negated in seen.decide(rules, folder, files, dirs=False).items():
                file_verdicts.setdefault(name, negated)
            for name, negated in seen.decide(rules, folder, dirs, dirs=True).items():
                dir_verdicts.setdefault(name, negated)
        return file_verdicts, dir_verdicts


@dataclass(frozen=True, slots=True, eq=False)
class _Frame:
    """What one folder adds, linked to the folder above."""

    parent: _Frame | None
    seen: Seen
    """How its rules see paths."""
    custom: RuleSet
    dot: RuleSet
    git: RuleSet
    exclude: RuleSet
    has_git: bool
    in_git: bool
    """Whether git's ignore files count here; else they are not even read."""
    above: bool
    """It lies above the folder the walk started in."""


_NO_RULES = RuleSet(())


@dataclass(slots=True)
class IgnoreFiles:
    """Reads ignore files as a walk comes by them."""

    root: bytes
    """The folder that paths are relative to; absolute."""
    options: Options
    seen: Seen = AS_IT_IS
    """How git's global excludes and `--ignore-file` see the paths of the root."""
    names: frozenset[bytes] = field(init=False)
    problems: list[tuple[bytes, str]] = field(init=False, default_factory=list)
    """Lines of ignore files that are no valid globs, and files that cannot be read."""
    invalid: list[tuple[bytes, str]] = field(init=False, default_factory=list)
    """Those of them that are invalid globs."""
    failure: OSError | None = field(init=False, default=None)
    """The first error for which rules may be missing that are there and may be read."""
    _global: RuleSet = field(init=False)
    _explicit: list[RuleSet] = field(init=False)

    def __post_init__(self) -> None:
        self.names = self.options.names
        self._global = _NO_RULES
        if self.options.global_ and (path := global_excludes_path()):
            self._global = self.read(os.path.join(self._here, path))  # noqa: PTH118
        self._explicit = [
            self.read(os.path.join(self._here, os.fsencode(path)), must=True)  # noqa: PTH118
            for path in reversed(self.options.explicit)
        ]

    @property
    def _here(self) -> bytes:
        """The working folder; where none is known, searches are as if started in the root."""
        return self.seen.here or self.root

    def start(self, folder: bytes) -> Rules:
        """The rules of everything above a walk that starts in `folder`, relative to the root."""
        options = self.options
        frame = _Frame(
            None,
            AS_IT_IS,
            _NO_RULES,
            _NO_RULES,
            _NO_RULES,
            _NO_RULES,
            False,
            not options.require_git,
            True,
        )
        if not (options.parents or options.vcs or options.exclude or options.global_):
            return self._rules(frame)
        base = os.path.realpath(os.path.join(self.root, folder))  # noqa: PTH118
        start = folder + b"/" if folder else b""
        for parent in _parents(base):
            inside = base[len(parent) :].lstrip(b"/") + b"/"
            frame = self._frame(frame, parent, self.names, Seen(start, inside), above=True)
        return self._rules(frame)

    def enter(self, rules: Rules, folder: bytes, special: Iterable[bytes]) -> Rules:
        """The rules inside a folder with these ignore files (or `.git`) in it."""
        path = os.path.join(self.root, folder)  # noqa: PTH118
        return self._rules(self._frame(rules.frame, path, special, Seen(folder, b""), above=False))

    def _frame(
        self, parent: _Frame, path: bytes, special: Iterable[bytes], seen: Seen, *, above: bool
    ) -> _Frame:
        present = set(special)
        has_git = self._is_repository(path, present, above=above)
        # Above a repository that begins further down git's files do not count either.
        in_git = parent.in_git or has_git
        if not in_git:
            present -= {b".gitignore", b".git"}

        def read(name: bytes) -> RuleSet:
            return self.read(path.rstrip(b"/") + b"/" + name) if name in present else _NO_RULES

        exclude = _NO_RULES
        if self.options.exclude and b".git" in present:
            folder = self._git_folder(path) if self.options.require_git else path + b"/.git"
            exclude = self.read(folder + b"/info/exclude") if folder else _NO_RULES
        return _Frame(
            parent, seen, read(b".rgignore"), read(b".ignore"), read(b".gitignore"),
            exclude, has_git, in_git, above,
        )  # fmt: skip

    def _is_repository(self, path: bytes, present: set[bytes], *, above: bool) -> bool:
        """Whether git's files of the folders above count no further; links are followed.

        With `--no-require-git` ripgrep still stops at `.jj`, in the folders it walks.
        """
        if above and not self.options.require_git:
            return False
        markers = REPOSITORY if self.options.require_git else (b".jj",)
        return any(name in present and self._exists(path, name) for name in markers)

    def _rules(self, frame: _Frame) -> Rules:
        """Put every rule set that counts in the order in which they decide."""
        chain: list[_Frame] = []
        at: _Frame | None = frame
        while at is not None:
            chain.append(at)
            at = at.parent
        heard = [link for link in chain if self.options.parents or not link.above]
        inside = _up_to_repository(chain, heard) if frame.in_git else []
        kinds = [
            [(link, link.custom) for link in heard],
            [(link, link.dot) for link in heard],
            [(link, link.git) for link in inside],
            [(link, link.exclude) for link in inside],
        ]
        layers = [_Layer(rules, link.seen) for kind in kinds for link, rules in kind if rules]
        if frame.in_git and self._global:
            layers.append(_Layer(self._global, self.seen))
        layers.extend(_Layer(rules, self.seen) for rules in self._explicit if rules)
        return Rules(tuple(layers), frame)

    def _git_folder(self, folder: bytes) -> bytes | None:
        """Where `info/exclude` is: `.git`, or for a worktree what its `commondir` names."""
        git = folder.rstrip(b"/") + b"/.git"
        if not os.path.isfile(git):  # noqa: PTH113
            return git
        line = _first_line(git)
        if line is None or not line.startswith(b"gitdir: "):
            return None
        # ripgrep reads a relative path from where it was started.
        real = os.path.join(self._here, line[len(b"gitdir: ") :])  # noqa: PTH118
        common = _first_line(os.path.join(real, b"commondir"))  # noqa: PTH118
        if common is None:
            return None
        start = real if common.startswith(b".") else self._here
        return os.path.join(start, common)  # noqa: PTH118

    def _exists(self, folder: bytes, name: bytes) -> bool:
        try:
            return absence.exists(folder.rstrip(b"/") + b"/" + name)
        except OSError as error:
            self.failure = self.failure or error
            return False

    def read(self, path: bytes, *, must: bool = False) -> RuleSet:
        """The rules of one ignore file; none if it cannot be read."""
        try:
            # One that was named on a command line may be a pipe.
            with open(path if must else _opened(path), "rb") as file:  # noqa: PTH123
                data = file.read()
        except OSError as error:
            # Without a number: it is no regular file, and was closed again.
            if self.failure is None and error.errno and not absence.is_unseen(error):
                self.failure = error
            if must or not isinstance(error, FileNotFoundError):
                self.problems.append((path, error.strerror or str(error)))
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
                # ripgrep reads no further than the first line that is not UTF-8.
                self.problems.append((path, f"line {number}: not UTF-8"))
                break
            except InvalidQuery as error:
                self.problems.append((path, f"line {number}: {error}"))
                self.invalid.append(self.problems[-1])
                continue
            if rule is not None:
                rules.append(rule)
        return rules


def excludes_see_folders(root: str, scope: ScopeSpec) -> bool:
    """Whether a glob of git's global excludes, where they count, sees more than a name."""
    options = Options.of(scope)
    if not options.global_:
        return False
    path = global_excludes_path()
    rules = IgnoreFiles(os.fsencode(root), options).read(path) if path else _NO_RULES
    return not all(rule.name_only for rule in rules.rules)


def faults_above(folder: bytes, scope: ScopeSpec) -> list[tuple[bytes, str]]:
    """Invalid globs in ignore files of the folders above: path and what is wrong.

    ripgrep reports those, and exits with 2; those in the folders it walks it only mentions.
    """
    # ripgrep reads git's files above also where there is no repository.
    options = replace(Options.of(scope), global_=False, explicit=(), require_git=False)
    ignore = IgnoreFiles(folder, options)
    ignore.start(b"")
    return ignore.invalid


def global_excludes_path() -> bytes | None:
    """Git's global excludes file as ripgrep finds it; it need not exist."""
    home = os.environb.get(b"HOME")
    config = os.environb.get(b"XDG_CONFIG_HOME") or (home + b"/.config" if home else b"")
    candidates = [(home, b"/.gitconfig"), (config, b"/git/config")]
    for folder, name in candidates:
        found = _EXCLUDES_FILE.search(_content(folder + name)) if folder else None
        if found:
            return found[1].replace(b"~", home) if home else found[1]
    return config + b"/git/ignore" if config else None


def _up_to_repository(chain: list[_Frame], heard: list[_Frame]) -> list[_Frame]:
    """The frames from a folder up to the one that holds `.git`."""
    inside: list[_Frame] = []
    for link in chain:
        if link in heard:
            inside.append(link)
        if link.has_git:
            break
    return inside


def _parents(folder: bytes) -> list[bytes]:
    """Every folder above, outermost first."""
    found: list[bytes] = []
    while (parent := os.path.dirname(folder)) != folder:  # noqa: PTH120
        found.append(parent)
        folder = parent
    return found[::-1]


def _first_line(path: bytes) -> bytes | None:
    """The first line as ripgrep reads it: a line that is not UTF-8 is none."""
    content = _content(path)
    line = content.split(b"\n", 1)[0].removesuffix(b"\r")
    return line if content and line == line.decode(errors="replace").encode() else None


def _content(path: bytes) -> bytes:
    try:
        with open(_opened(path), "rb") as file:
            return file.read()
    except OSError:
        return b""


def _opened(path: bytes) -> int:
    """A descriptor of a regular file; a FIFO that lies there is not waited for."""
    return as_regular(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY))
