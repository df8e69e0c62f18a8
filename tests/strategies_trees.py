"""Random folder trees with nested ignore files, and the flags to list them with.

Everything comes from one `random.Random`, so a seed names a case. Names and lines are drawn from
few words, so that rules meet files often, and from everything that is odd: bytes that are not
UTF-8, blanks and dots at the end, glob characters in names, invalid globs, CR LF, no last newline.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from triseek.model.search import ScopeSpec

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

PLAIN = ["a", "b", "foo", "bar", "foo.c", "bar.h", "x.o", "build", "vendor", "lib.rs", "A", "Foo.C"]
ODD = [
    ".hidden", ".env", ".github", ".x.py", "a b", "tail ", "é", "foo.", "..two", "#hash", "!bang",
    "[x]", "{a,b}", "back\\slash", "star*", "new\nline", "Makefile", "x.min.js", "~", "-dash", "a.",
]  # fmt: skip
RAW = [b".x.", b"\xff.c", b"n\xe9", b".\xfe"]
IGNORE_NAMES = [".gitignore", ".ignore", ".rgignore"]
EXPLICIT = ["more-rules", "../more", "nowhere"]
INVALID = ["[", "{a", "a\\", "*}", "[z-a]", "[z-a", "[]", "x[!", "[[a[b", "{a,{b}"]


@dataclass(frozen=True)
class Tree:
    """A tree on disk."""

    root: bytes
    """Where a walk starts."""
    home: str
    config: str
    """HOME and XDG_CONFIG_HOME (may be empty) for whoever lists it."""

    def environment(self) -> dict[str, str]:
        """The environment of a process that lists this tree."""
        return {"PATH": os.environ["PATH"], "HOME": self.home, "XDG_CONFIG_HOME": self.config}


def make_tree(random: Random, base: Path) -> Tree:
    """Make a tree below `base`, its root some folders down, with rules above it too."""
    home = base / "home"
    config = home / ".config"
    (config / "git").mkdir(parents=True)
    _make_global_excludes(random, home, config)
    folder = os.fsencode(base / "top")
    os.mkdir(folder)
    for _ in range(random.randrange(3)):
        _add_rules(random, folder, chance=0.5)
        folder = folder + b"/" + random.choice([b"start", b"a", b"foo"])
        os.mkdir(folder)
    _fill(random, folder, depth=0)
    for name in EXPLICIT[:2]:
        with open(folder + b"/" + name.encode(), "wb") as file:
            file.write(_bytes(random))
    return Tree(folder, str(home), str(config) if random.random() < 0.5 else "")


def _make_global_excludes(random: Random, home: Path, config: Path) -> None:
    if random.random() < 0.4:
        (config / "git" / "ignore").write_text(_lines(random))
    if random.random() < 0.2:
        (home / "excludes").write_text(_lines(random))
        where = random.choice([home / ".gitconfig", config / "git" / "config"])
        name = random.choice(["excludesfile", "excludesFile"])
        value = random.choice(["~/excludes", f'"{home}/excludes"', "/nowhere"])
        where.write_text(f"[user]\n\tname = x\n[core]\n\t{name} = {value}\n")


def _fill(random: Random, folder: bytes, depth: int) -> None:
    names = {os.fsencode(name) for name in random.sample(PLAIN, random.randint(2, 6))}
    names |= {os.fsencode(name) for name in random.sample(ODD, random.randint(0, 4))}
    names |= set(random.sample(RAW, random.choice([0, 0, 1])))
    for name in sorted(names):
        path = folder + b"/" + name
        if depth < 3 and random.random() < 0.35:
            os.mkdir(path)
            _fill(random, path, depth + 1)
        elif random.random() < 0.06:
            os.symlink(random.choice([b".", b"..", b"a", b"nowhere", b"foo.c"]), path)
        elif random.random() < 0.03:
            os.mkfifo(path)
        else:
            with open(path, "wb") as file:
                file.write(b"x" * random.choice([0, 10, 100]))
    _add_rules(random, folder, chance=0.35 if depth else 0.6)


def _add_rules(random: Random, folder: bytes, chance: float) -> None:
    for name in IGNORE_NAMES:
        if random.random() < chance / 2:
            with open(folder + b"/" + name.encode(), "wb") as file:
                file.write(_bytes(random))
    if random.random() < chance / 2:
        _add_git(random, folder + b"/.git")
    if random.random() < chance / 4:
        os.makedirs(folder + b"/.jj")


def _add_git(random: Random, git: bytes) -> None:
    kind = random.random()
    if kind < 0.8:
        os.makedirs(git + b"/info")
        if random.random() < 0.5:
            with open(git + b"/info/exclude", "wb") as file:
                file.write(_bytes(random))
        return
    real = git[:-4] + b"b.git"
    os.makedirs(real + b"/info", exist_ok=True)
    with open(real + b"/info/exclude", "wb") as file:
        file.write(_bytes(random))
    with open(real + b"/commondir", "wb") as file:
        file.write(random.choice([b".\n", b"../b.git\n", real]))
    with open(git, "wb") as file:
        file.write(random.choice([b"gitdir: " + real + b"\n", b"gitdir: b.git\n", b"nonsense"]))


def _bytes(random: Random) -> bytes:
    data = _lines(random).encode()
    if random.random() < 0.1:
        data = data.replace(b"\n", b"\r\n")
    if random.random() < 0.05:
        data = b"\xef\xbb\xbf" + data
    if random.random() < 0.08:
        data += b"\nb\xffd\nfoo\n"
    return data


def _lines(random: Random) -> str:
    text = "\n".join(make_line(random) for _ in range(random.randint(1, 6)))
    return text + random.choice(["\n", "\n", ""])


def make_line(random: Random) -> str:
    """One line of an ignore file, mostly a glob that means something."""
    odd = random.random()
    if odd < 0.05:
        return random.choice(["", "   ", "# comment", "\\#hash", "\\!bang", "#", "!", "/", "//"])
    if odd < 0.09:
        return random.choice(INVALID)
    line = make_glob(random)
    if random.random() < 0.25:
        line = "!" + line
    return line + random.choices(["", " ", "\t ", "\\ ", "  \\ ", "\u00a0"], [20, 1, 1, 1, 1, 1])[0]


def make_glob(random: Random) -> str:
    """One valid glob."""
    parts = [_component(random) for _ in range(random.choices([1, 2, 3], [6, 3, 1])[0])]
    glob = "/".join(parts)
    if random.random() < 0.25:
        glob = "/" + glob
    if random.random() < 0.2:
        glob += random.choice(["/", "/", "/**", "/*", "\\/"])
    return glob


def _component(random: Random) -> str:
    word = random.choice(PLAIN + PLAIN + ODD)
    escaped = "".join("\\" + char if char in "*?[]{}!\\#" else char for char in word)
    escaped = escaped.replace("\n", "?")
    stem, dot, suffix = escaped.rpartition(".")
    return random.choice(
        [
            escaped,
            escaped,
            f"*{dot}{suffix}" if dot else "*",
            "*",
            "**",
            escaped[:1] + "*" if escaped[0] != "\\" else "*",
            "?" + escaped[1:] if escaped[0] != "\\" else "?",
            "[" + word[0].replace("[", "a") + "b]*" if word[0] not in "!^-]" else "[!a]*",
            "[!a]" + random.choice(["", "*"]),
            "[+-z]" + random.choice(["", "oo", "*"]),
            "{" + random.choice(PLAIN) + "," + random.choice(PLAIN) + "}",
            "{,a}" + random.choice(["", "*"]),
            "*.[ch]",
            "*." + random.choice(["{c,o}", "*", "", "?"]),
            ".*",
            "{a*,{b,*.c}}",
            "{**,b}",
            "[é]*",
            "f**o",
            stem + "*" if stem and not stem.endswith("\\") else "b*",
        ]
    )


TYPES = ["c", "rust", "py", "make", "js", "all", "minified", "h"]


def make_scope(random: Random) -> ScopeSpec:
    """Globs and types only: what `query.globs.scope` can apply to known paths."""
    count = random.choice([0, 1, 1, 2, 3])
    globs = tuple(_glob_argument(random) for _ in range(count))
    iglobs = (_glob_argument(random),) if random.random() < 0.2 else ()
    types = tuple(random.sample(TYPES, random.choice([0, 0, 0, 1, 2])))
    types_not = tuple(random.sample(TYPES[:5], random.choice([0, 0, 0, 1])))
    order = [("select", name) for name in types] + [("negate", name) for name in types_not]
    random.shuffle(order)
    changes = (("add", "odd:*.min.js"), ("add", "more:include:odd,rust"), ("clear", "h"))
    changed = random.random() < 0.15
    return ScopeSpec(
        globs=globs,
        iglobs=iglobs,
        glob_case_insensitive=random.random() < 0.1,
        types=("more",) if changed else types,
        types_not=() if changed else types_not,
        type_order=() if changed else tuple(order),
        type_changes=changes if changed else (),
    )


def _glob_argument(random: Random) -> str:
    return ("!" if random.random() < 0.4 else "") + make_glob(random)


def make_flags(random: Random) -> ScopeSpec:
    """Everything at once: flags that change the walk, now and then with globs and types."""
    scope = make_scope(random) if random.random() < 0.4 else ScopeSpec()

    def on() -> bool:
        return random.random() < 0.12

    return ScopeSpec(
        globs=scope.globs, iglobs=scope.iglobs, types=scope.types, types_not=scope.types_not,
        type_order=scope.type_order, type_changes=scope.type_changes,
        glob_case_insensitive=scope.glob_case_insensitive,
        hidden=random.random() < 0.3, no_ignore=on(), no_ignore_vcs=on(), no_ignore_parent=on(),
        no_ignore_dot=on(), no_ignore_exclude=on(), no_ignore_global=on(), no_ignore_files=on(),
        no_require_git=random.random() < 0.3,
        ignore_files=tuple(random.sample(EXPLICIT, random.choice([0, 0, 1, 2]))),
        follow=on(), one_file_system=on(),
        max_depth=random.choice([None, None, None, 0, 1, 2, 3]),
        max_filesize=random.choice([None, None, None, 0, 10, 50]),
    )  # fmt: skip


def rg_arguments(scope: ScopeSpec) -> list[str]:
    """The flags that say the same to ripgrep."""
    flags = [
        "--" + name.replace("_", "-")
        for name in (
            "hidden", "no_ignore", "no_ignore_vcs", "no_ignore_parent", "no_ignore_dot",
            "no_ignore_exclude", "no_ignore_global", "no_ignore_files", "no_require_git", "follow",
            "one_file_system", "glob_case_insensitive",
        )
        if getattr(scope, name)
    ]  # fmt: skip
    flags += [f"--type-{action}={text}" for action, text in scope.type_changes]
    flags += [f"--glob={glob}" for glob in scope.globs]
    flags += [f"--iglob={glob}" for glob in scope.iglobs]
    unordered = [("select", name) for name in scope.types]
    unordered += [("negate", name) for name in scope.types_not]
    order = scope.type_order or unordered
    said = {"select": "type", "negate": "type-not"}
    flags += [f"--{said[action]}={name}" for action, name in order]
    flags += [f"--ignore-file={path}" for path in scope.ignore_files]
    if scope.max_depth is not None:
        flags.append(f"--max-depth={scope.max_depth}")
    if scope.max_filesize is not None:
        flags.append(f"--max-filesize={scope.max_filesize}")
    return flags
