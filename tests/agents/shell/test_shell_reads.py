"""What a shell command shows is what bash shows: each claim is held against its real output."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from triseek.agents.shell.shell_reads import shell_use, without_numbers

if TYPE_CHECKING:
    from triseek.model.hook_event import FileRead

_LINES = [f"line {number} of it" if number % 7 else "" for number in range(1, 61)]

READS = [
    "cat a.txt",
    "cat -- a.txt",
    "cat -n a.txt",
    "cat a.txt b.txt",
    "cat 'with space.txt'",
    'cat "with space.txt"',
    "cat with\\ space.txt",
    "cat './sub/c.txt'",
    "head a.txt",
    "head -5 a.txt",
    "head -n 5 a.txt",
    "head -n5 a.txt",
    "head --lines=5 a.txt",
    "head --lines 5 a.txt",
    "head -n 500 a.txt",
    "head -n 3 a.txt b.txt",
    "tail a.txt",
    "tail -3 a.txt",
    "tail -n 3 a.txt",
    "tail -n +55 a.txt",
    "tail -n +55 -- a.txt",
    "sed -n 5,9p a.txt",
    "sed -n '5,9p' a.txt",
    "sed -n '5p' a.txt",
    "sed -n '$p' a.txt",
    "sed -n '50,$p' a.txt",
    "sed -n '5,+3p' a.txt",
    "sed -n '9,5p' a.txt",
    "sed -n '1,3p;10,12p' a.txt",
    "sed -n -e '1,3p' -e '10,12p' a.txt",
    "sed -ne '1,3p' a.txt",
    "sed -n '1,3p;3q' a.txt",
    "sed 7q a.txt",
    "nl -ba a.txt",
    "nl a.txt",
    "nl -b a -w 3 a.txt",
    "cat a.txt | head -n 4",
    "cat a.txt | tail -n 4",
    "cat a.txt | sed -n '3,6p'",
    "cat -n a.txt | sed -n '3,6p'",
    "nl -ba a.txt | sed -n '3,6p;9,10p'",
    "tail -n +20 a.txt | head -n 5",
    "sed -n '10,40p' a.txt | head -n 5 | tail -n +2",
    "cat a.txt | cat",
    "cd sub && cat c.txt",
    "cd sub && cat ../a.txt && cat c.txt",
    "cd sub; cat c.txt",
    "cd sub\ncat c.txt\ncat c.txt",
    "cat a.txt 2>/dev/null",
    "cat a.txt 2>&1",
    "# what is in it\ncat a.txt",
    "cat a.txt && echo --- && cat b.txt",
    "echo a; cat a.txt",
    "printf '\\n' && cat a.txt",
    "cat a.txt || true",
    "cat \\\n  a.txt",
    "cat a.txt;",
    "  cat   a.txt  ",
    "cat link.txt",
    "cd link && cat ../a.txt",
]


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    place = tmp_path_factory.mktemp("tree").resolve()
    deep = place / "far" / "away"
    deep.mkdir(parents=True)
    (place / "sub").mkdir()
    (place / "link").symlink_to(deep)
    for name in ("a.txt", "with space.txt", "sub/c.txt"):
        (place / name).write_text("\n".join([name, *_LINES]) + "\n")
    (place / "b.txt").write_text("other\nlast without an end")
    (place / "far" / "a.txt").write_text("not this one\n")
    (place / "link.txt").symlink_to("b.txt")
    return place


def _claimed(read: FileRead) -> list[str]:
    with open(read.path) as file:
        lines = file.read().splitlines()
    if read.tail is not None:
        return lines[-read.tail :]
    return lines[read.first - 1 : read.last]


@pytest.mark.parametrize("command", READS)
def test_what_a_command_is_said_to_show_is_what_bash_shows(command, tree):
    told = shell_use(command, str(tree))

    shown = subprocess.run(
        ["bash", "-c", command], cwd=tree, capture_output=True, text=True, check=True
    ).stdout
    output = (without_numbers(shown) if told.numbered else shown).splitlines()
    claimed = [line for read in told.reads for line in _claimed(read)]
    own = [line for line in output if line in ("---", "a") or line.startswith("==> ")]
    if not own and "printf" not in command:
        assert output == claimed
    assert _is_within(claimed, output)
    assert told.only_reads
    assert not told.may_write


def _is_within(wanted: list[str], lines: list[str]) -> bool:
    rest = iter(lines)
    return bool(wanted) and all(any(line == each for each in rest) for line in wanted)


@pytest.mark.parametrize(
    "command",
    [
        "", " ", "cat", "cat -", "cat -A a.txt", "cat $F", "cat *.txt", "cat {a,b}.txt",
        "cat ~/a.txt",
        "cat `ls`", "cat $(ls)", "cat < a.txt", "cat a.txt > b.txt", "cat a.txt >/dev/null",
        "cat a.txt | grep x", "cat a.txt | sort", "grep x a.txt | head -5", "cat <<EOF\nx\nEOF",
        "cat a.txt &", "(cat a.txt)", "{ cat a.txt; }", "if true; then cat a.txt; fi",
        "for f in a b; do cat a.txt; done", "FOO=1 cat a.txt", "sudo cat a.txt", "! cat a.txt",
        "head -c 5 a.txt", "head -n -5 a.txt", "head -n x a.txt", "head -n 0 a.txt",
        "tail -f a.txt", "tail -c 5 a.txt", "tail -n +3 -n 4 a.txt", "tail -n",
        "sed 's/a/b/' a.txt",
        "sed -i 's/a/b/' a.txt",
        "sed -n '/x/p' a.txt", "sed -n '0,5p' a.txt", "sed -n '1,5p;3,8p' a.txt", "sed -n 1,5p a b",
        "sed -n '5,9p;2,3p' a.txt", "sed -n '1,9p;5q' a.txt", "sed -n '5,9p'",
        "sed -n '1,5w x' a.txt",
        "sed -n '$!p' a.txt", "sed '' a.txt", "nl -bp'^x' a.txt", "cat 'a.txt", 'cat "a.txt',
        "cat a.txt &&", "cat a.txt |", "| cat a.txt", "cat $'a.txt'", "cat a.txt; ;", "cat a.txt >",
        "cat a.txt | tail -n 3 | head -n 1", "cat a.txt b.txt | head", "awk 1 a.txt", "cat ''",
        "cat a.txt" + " " * (1 << 17), "cat a\0.txt", "cd - && cat a.txt", "cd $X && cat a.txt",
        "cat =a.txt", "pushd sub && cat c.txt", "cat 2>b.txt a.txt",
        "cat a.txt | tee b.txt", "cat a[1].txt",
    ],
)  # fmt: skip
def test_what_is_not_wholly_understood_is_never_only_a_read(command, tree):
    told = shell_use(command, str(tree))

    assert not told.only_reads
    if "git" not in command and "make" not in command:
        assert told.reads == ()


def test_reads_beside_other_commands_are_told_but_are_not_all():
    told = shell_use("make && cat a.txt && git status", "/w")

    assert [each.path for each in told.reads] == ["/w/a.txt"]
    assert (told.only_reads, told.may_write) == (False, True)
    assert not shell_use("git status && cat a.txt", "/w").only_reads
    assert not shell_use("git status && cat a.txt", "/w").may_write


def test_a_read_that_runs_only_if_another_fails_is_not_told():
    told = shell_use("cat a.txt || cat b.txt", "/w")

    assert ([each.path for each in told.reads], told.only_reads) == (["/w/a.txt"], False)


@pytest.mark.parametrize(
    ("command", "edits", "may_write"),
    [
        ("echo x > out.txt", ("/w/out.txt",), False),
        ("cat a.txt >> /far/out.txt", ("/far/out.txt",), False),
        ("ls &> log", ("/w/log",), False),
        ("echo no >&2", (), False),
        ("cd sub && echo x > out.txt", ("/w/sub/out.txt",), False),
        ("echo x > $OUT", (), True),
        ("rm a.txt", (), True),
        ("find . -delete", (), True),
        ("find . -name x", (), False),
        ("python -c 1", (), True),
        ("ls 2>/dev/null | wc -l", (), False),
        ("sed -i s/a/b/ a.txt", (), True),
        ("git commit -m x", (), True),
        ("cat <<E > x\nE", (), True),
    ],
)
def test_what_a_command_writes_is_told_or_said_to_be_unknown(command, edits, may_write):
    told = shell_use(command, "/w")

    assert (told.edits, told.may_write) == (edits, may_write)


@pytest.mark.parametrize(
    ("command", "pattern"),
    [
        ("rg foo", "foo"),
        ("rg -n -g '*.py' 'foo bar' src", "foo bar"),
        ("rg -e foo src", "foo"),
        ("grep -rn foo .", "foo"),
        ("grep -r -A 3 foo . | head -20", "foo"),
        ("cd src && git grep foo", "foo"),
        ("rg foo src/*.py", "foo"),
        ("rg $X", ""),
        ("ls", ""),
    ],
)
def test_what_a_command_searches_for_is_told(command, pattern):
    told = shell_use(command, "/w")

    assert (told.search, told.may_write, told.reads) == (pattern, False, ())


def test_a_list_of_words_is_no_shells_affair():
    told = shell_use(["cat", "$a b*.txt"], "/w")

    assert [each.path for each in told.reads] == ["/w/$a b*.txt"]
    assert told.only_reads
    assert not shell_use(["make"], "/w").only_reads


@pytest.mark.parametrize(
    ("command", "ended", "path"),
    [
        ("cd sub && cat c.txt", "/w/sub", "/w/sub/c.txt"),
        ("cd .. && cat c.txt", "/w", "/w/c.txt"),
        ("cd ../x/y && cat c.txt", "/w/x/y", "/w/x/y/c.txt"),
        ("cd a && cd b && cat c.txt", "/w/a/b", "/w/a/b/c.txt"),
        ("cd /w/a && cat c.txt", "/w/a", "/w/a/c.txt"),
        ("cd sub && cat c.txt", "/w", "/w/sub/c.txt"),
        ("cat c.txt", "/w", "/w/c.txt"),
        ("cat c.txt && cd sub", "/w/sub", "/w/c.txt"),
    ],
)
def test_a_shell_that_stayed_where_it_went_is_asked_from_there(command, ended, path):
    assert [each.path for each in shell_use(command, ended, moved=True).reads] == [path]
