r"""Signatures of errors in the output of commands, so that the same error is recognized again.

A signature's key is readable: the error with its numbers, times, ids and absolute paths taken out,
and the first place in the repository that the output names. `AssertionError: assert N == N @
tests/test_cart.py` is the same error however often it is reported, on whatever line.

The forms are those of Python, pytest, Go, Rust, TypeScript, Node, Java, C compilers, make, git and
shells. They are tried in order, most specific first, and each on the whole output.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

HEAD, TAIL = 16_384, 49_152
"""Characters at both ends of an output that are examined."""
KEY_MAX = 240
LINE_MAX = 300
_EXAMINED_LINE = 1_000

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")

_TASK = re.compile(r"^\[[a-z][\w:.-]{0,40}\] (?!ERROR task failed)", re.MULTILINE)
"""What mise, and others that run tasks beside each other, put before each line of their outputs."""


class ErrorSignature(NamedTuple):
    """An error in an output; both fields are empty if there is none."""

    key: str
    """Equal for the same error: at most `KEY_MAX` characters."""
    line: str
    """The line that says what is wrong, as it was printed: at most `LINE_MAX` characters."""


NO_ERROR = ErrorSignature("", "")


def error_of(output: str, exit_status: int | None, root: str = "") -> ErrorSignature:
    """Return the signature of the error that a command's output shows.

    Args:
        output: What the command printed, untrusted.
        exit_status: 0: there is no error. None: unknown; then only the forms of compilers, test
            programs and tracebacks count. Else: there is one, so the last line that mentions a
            failure counts, or the last line.
        root: The repository's folder, absolute: paths below it become relative.
    """
    if exit_status == 0:
        return NO_ERROR
    text = plain(output)
    for form in _FORMS:
        error = form(text, root)
        if error is not None:
            return _signature(*error, root)
    return _signature(_last_resort(text), "", root) if exit_status is not None else NO_ERROR


def plain(output: str) -> str:
    """Return both ends of an output without escape sequences, its lines cut to a length."""
    if len(output) > HEAD + TAIL:
        output = f"{output[:HEAD]}\n{output[-TAIL:]}"
    clean = _ANSI.sub("", output).replace("\r\n", "\n").replace("\r", "\n")
    lines = _TASK.sub("", clean).split("\n")
    return "\n".join(line[:_EXAMINED_LINE].rstrip() for line in lines)


def normalized(text: str, root: str = "") -> str:
    """Return a text without what differs from run to run: absolute paths, numbers, ids, times."""
    for pattern, replacement in _VARYING:
        text = pattern.sub(replacement, text)
    if root:
        text = text.replace(root.rstrip("/") + "/", "")
    for pattern, replacement in _NUMBERS:
        text = pattern.sub(replacement, text)
    return " ".join(text.split())


_VARYING = (
    (re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"), "N"),
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"), "N"),  # noqa: E501
    (re.compile(r"\b\d\d:\d\d:\d\d(?:[.,]\d+)?"), "N"),
    (re.compile(r"\b0[xX][0-9a-fA-F]+"), "N"),
)  # fmt: skip
_NUMBERS = (
    (re.compile(r"(?<![\w.])/(?:[^\s/:'\"(),]+/)+(?=[^\s/])"), "…/"),
    (re.compile(r"(?<![\w.])[A-Za-z]:\\(?:[^\s\\:'\"(),]+\\)+"), "…/"),
    (re.compile(r"\btmp[\w-]{4,}"), "tmpN"),
    (re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b"), "N"),
    (re.compile(r"(?<![A-Za-z_\d])\d+(?:[.,]\d+)*(?:ns|us|µs|ms|s|m)?(?![A-Za-z_\d])"), "N"),
)


def _signature(line: str, place: str, root: str) -> ErrorSignature:
    line = " ".join(line.split())
    if not line:
        return NO_ERROR
    key = normalized(line, root)
    where = normalized(place, root)
    if where and where not in key:
        key = f"{key[: KEY_MAX - min(len(where), 100) - 3]} @ {where[-100:]}"
    return ErrorSignature(key[:KEY_MAX], line[:LINE_MAX])


def _in_repository(path: str, root: str) -> bool:
    if re.search(r"(?:site|dist)-packages/|/lib(?:64)?/python|node_modules/|^<|^node:|/rustc/"
                 r"|\.cargo/|/go/pkg/mod/|/usr/", path):  # fmt: skip
        return False
    return not path.startswith("/") or not root or path.startswith(root.rstrip("/") + "/")


_Error = tuple[str, str]
"""The line that says what is wrong, and the place in the repository, or ""."""


def _pytest(text: str, _: str) -> _Error | None:
    """`FAILED tests/test_a.py::test_b - AssertionError: …`, or the E lines of the report."""
    short = re.search(
        r"^(?:FAILED|ERROR) ([\w./\\-]+\.py)(?:::(\S+))?(?: - (.+))?$", text, re.MULTILINE
    )
    said = re.search(r"^E {2,}(\S.*)$", text, re.MULTILINE)
    if said is None and (short is None or not short[3]):
        return None
    place = re.search(r"^([\w./\\-]+\.py):\d+: \w", text, re.MULTILINE)
    where = short[1] if short else place[1] if place else ""
    what = said[1] if said else short[3] if short else ""
    if place and not re.match(r"[\w.]*(?:Error|Exception|Warning|Failed)\b", what):
        kind = re.search(rf"^{re.escape(place[1])}:\d+: (\w+)", text, re.MULTILINE)
        what = f"{kind[1]}: {what}" if kind else what
    return what, where


def _python(text: str, root: str) -> _Error | None:
    """A traceback: the exception of the last one, and its innermost frame in the repository."""
    at = text.rfind("Traceback (most recent call last):")
    if at < 0:
        at = text.rfind('\n  File "')
        if at < 0 or not re.search(r"^\w*(?:Error|Exception): ", text[at:], re.MULTILINE):
            return None
    part = text[at:]
    raised = re.search(r"^([A-Za-z_][\w.]*)(?:: .*)?$(?<!:)", part.split("\n", 1)[-1], re.MULTILINE)
    if raised is None:
        return None
    frames = re.findall(r'^[ \t]+File "([^"\n]+)", line \d+', part, re.MULTILINE)
    own = [frame for frame in frames if _in_repository(frame, root)]
    return raised[0], own[-1] if own else ""


def _rust(text: str, _: str) -> _Error | None:
    panic = re.search(
        r"^thread '[^'\n]*'(?: \(\d+\))? panicked at ([^:\n]+):\d+:\d+:\n(.*)$", text, re.MULTILINE
    )
    if panic:
        return f"panicked: {panic[2]}", panic[1]
    old = re.search(r"^thread '[^'\n]*' panicked at '(.*)', ([^:\n]+):\d+", text, re.MULTILINE)
    if old:
        return f"panicked: {old[1]}", old[2]
    error = re.search(r"^(error(?:\[E\d+\])?: (?!could not compile|test failed|aborting).+)\n[ \t]*--> ([^:\n]+)", text, re.MULTILINE)  # fmt: skip  # noqa: E501
    return (error[1], error[2]) if error else None


def _go(text: str, root: str) -> _Error | None:
    panic = re.search(r"^panic: (.+)$", text, re.MULTILINE)
    if panic:
        frames = re.findall(r"^\t(\S+\.go):\d+", text[panic.end() :], re.MULTILINE)
        own = [
            frame
            for frame in frames
            if _in_repository(frame, root) and "/src/runtime/" not in frame
        ]
        return panic[0], own[0] if own else ""
    failed = re.search(r"^[ \t]*--- FAIL: (\S+) \(", text, re.MULTILINE)
    if failed:
        said = re.search(r"^[ \t]+(\S+_test\.go):\d+: (.+)$", text, re.MULTILINE)
        return (said[2], f"{said[1]} {failed[1]}") if said else (f"FAIL: {failed[1]}", "")
    built = re.search(r"^(?:vet: )?((?:[\w./-]+/)?[\w.-]+\.go):\d+:\d+: (.+)$", text, re.MULTILINE)
    return (built[2], built[1].removeprefix("./")) if built else None


def _typescript(text: str, _: str) -> _Error | None:
    error = re.search(
        r"^([^\s(:][^(:\n]*)(?:\(\d+,\d+\)|:\d+:\d+)(?: -|:) (error TS\d+: .+)$", text, re.MULTILINE
    )
    return (error[2], error[1]) if error else None


def _jest(text: str, _: str) -> _Error | None:
    test = re.search(r"^[ \t]*●[ \t]+(\S.*)$", text, re.MULTILINE)
    if test is None or not re.search(r"^(?:Tests|Test Suites):\s", text, re.MULTILINE):
        return None
    rest = text[test.end() :]
    said = re.search(r"^[ \t]{2,}(\S.*)$", rest, re.MULTILINE)
    file = re.search(r"^[ \t]*FAIL[ \t]+(\S+)", text, re.MULTILINE)
    return (said[1] if said else test[1]), f"{file[1] if file else ''} {test[1]}".strip()


def _javascript(text: str, root: str) -> _Error | None:
    """An error with its stack, as Node prints it."""
    thrown = re.search(r"^[ \t]*(?:Uncaught )?(\w*(?:Error|Exception)(?: \[\w+\])?: .+)\n(?:.*\n){0,8}?[ \t]+at .+$", text, re.MULTILINE)  # fmt: skip  # noqa: E501
    if thrown is None:
        return None
    frames = re.findall(
        r"^[ \t]+at (?:.*\()?(?:file://)?([^\s()]+?):\d+:\d+\)?$",
        text[thrown.start() :],
        re.MULTILINE,
    )
    own = [frame for frame in frames if _in_repository(frame, root)]
    return thrown[1], own[0] if own else ""


def _java(text: str, _: str) -> _Error | None:
    compiled = re.search(r"^\[ERROR\] (\S+\.(?:java|kt)):\[\d+,\d+\] (.+)$", text, re.MULTILINE)
    if compiled:
        return compiled[2], compiled[1]
    failed = re.search(r"^\[ERROR\][ \t]+(\w+)\.(\w+):\d+ (.+)$", text, re.MULTILINE)
    if failed:
        return failed[3], f"{failed[1]}.{failed[2]}"
    caused = re.findall(r"^(?:Caused by: |Exception in thread \"[^\"\n]*\" )?((?:\w+\.)+\w*(?:Exception|Error)(?:: .*)?)\n[ \t]+at ([\w.$]+)", text, re.MULTILINE)  # fmt: skip  # noqa: E501
    if caused:
        return caused[-1][0], caused[-1][1]
    javac = re.search(r"^(\S+\.(?:java|kt)):\d+: (error: .+)$", text, re.MULTILINE)
    return (javac[2], javac[1]) if javac else None


def _compiler(text: str, _: str) -> _Error | None:
    """gcc, clang, linkers, mypy, and whatever else prints `path:line: error: text`."""
    error = re.search(r"^([^\s:][^:\n]*):\d+(?::\d+)?: ((?:fatal )?error: .+)$", text, re.MULTILINE)
    if error:
        return error[2], error[1]
    linked = re.search(r"^.*?(undefined reference to .+|ld: .+not found.*)$", text, re.MULTILINE)
    return (linked[1], "") if linked else None


_FORMS: tuple[Callable[[str, str], _Error | None], ...] = (
    _pytest, _rust, _typescript, _jest, _go, _java, _python, _javascript, _compiler,
)  # fmt: skip

_SAYS_FAILURE = re.compile(
    r"^(?!.*\b0 (?:errors?|failures?|failed)\b).*(?:"
    r"\b[Ee]rror\b|ERROR|ERR!|\b[Ff]atal\b|FATAL|command not found|No such file|not found"
    r"|[Pp]ermission denied|\b[Cc]annot\b|[Cc]ould not|\bFAIL|\b[Ff]ailed\b|[Rr]efused|[Ii]nvalid|\*\*\*"  # noqa: E501
    r"|[Uu]nknown|[Uu]nrecognized|[Nn]o rule)",
    re.MULTILINE,
)
_SAYS_LITTLE = re.compile(
    r"^(?:make(?:\[\d+\])?: \*\*\* .*Error \d+|npm ERR! .*(?:log|code|errno|path)\b.*"
    r"|error: could not compile.*|error: test failed.*|\[ERROR\]\s*(?:->.*|To see .*|Re-run .*|)|exit(?: code| status)? \d+"  # noqa: E501
    r"|<?/?error>?|Exit code:? \d+|=== (?:RUN|PAUSE|CONT|NAME)\b.*|--- (?:PASS|SKIP): .*"
    r"|ok\s+\S+\s.*|\?\s+\S+\s+\[no test files\]|FAIL(?:\s+\S+\s+[\d.]+m?s)?|Finished in .*"
    r"|[⎯─═]{3,}.*|\$ .*|\[[\w:.-]+\] ERROR task failed"
    r"|<tool_use_error>(?:Sibling tool call|Cancelled: parallel tool call).*"
    r"|(?:[\W\d_]*[^\W\d_]{1,2})?[\W\d_]*)\s*$",
    re.IGNORECASE,
)


def _last_resort(text: str) -> str:
    """Return the first line that mentions a failure, else the last line that says anything.

    Errors whose outputs say nothing of them have nothing in common, so they get no signature.
    """
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    telling = [line for line in lines if not _SAYS_LITTLE.match(line)]
    failures = [line for line in telling if _SAYS_FAILURE.match(line)]
    return failures[0] if failures else telling[-1] if telling else ""
