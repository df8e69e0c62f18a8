"""Files with matches, as a terminal shows them and as JSON has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triseek.model.plain_text import visible_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.model.code_search import CodeFile, CodeLine


def file_lines(file: CodeFile) -> Iterator[str]:
    """Yield the path of a file, and its lines with their contexts, each once."""
    yield f"  {visible_line(text(file.path))}"
    yield from shown_lines(file.lines)


def shown_lines(lines: tuple[CodeLine, ...]) -> Iterator[str]:
    """Yield lines with their contexts, each once, with dots where lines are left out."""
    texts: dict[int, tuple[str, bytes]] = {}
    for line in lines:
        around = enumerate((*line.before, line.text, *line.after), line.number - len(line.before))
        for number, content in around:
            texts.setdefault(number, ("-", content))
        texts[line.number] = (":", line.text)
    last = 0
    for number in sorted(texts):
        if last and number > last + 1 and len(texts) > len(lines):
            yield "    ..."
        sign, content = texts[number]
        yield f"    {number}{sign} {visible_line(text(content).expandtabs(4))}"
        last = number


def file_document(file: CodeFile) -> dict[str, Any]:
    """Return a file with its matches as JSON has it."""
    return {
        "path": text(file.path),
        "language": file.language,
        "matches": file.match_count,
        "score": file.score,
        "name_spans": file.name_spans,
        "lines": [
            {
                "number": line.number,
                "text": text(line.text),
                "spans": line.spans,
                "before": list(map(text, line.before)),
                "after": list(map(text, line.after)),
            }
            for line in file.lines
        ],
    }


def text(data: bytes) -> str:
    """Return bytes of a file as text; what is not UTF-8 becomes U+FFFD."""
    return data.decode("utf-8", "replace")
