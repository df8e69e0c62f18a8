"""Three small repositories that the real Zoekt and triseek both search."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOO_LARGE = 2 << 20
"""Size over which Zoekt indexes only the name of a file."""

HOSTILE = {
    "no_newline.txt": b"first line\nlast line without end",
    "crlf.txt": b"alpha beta\r\ngamma delta\r\n\r\nomega\r\n",
    "folding.txt": "Kelvin STRASSE Straſſe STRAẞE ſ\nK\nΣ ς σ\n".encode(),
    "utf8.md": "Größe naïve café\nΣίσυφος σς Σ\nİstanbul ısı\n日本語 text\nﬁ ǅ ß ẞ ſ K\n".encode(),
    "invalid.txt": b"good line\nbad \xff\xfe byte here\nafter bad\n",
    "truncated_utf8.txt": b"tail \xe2\x82\n",
    "empty.txt": b"",
    "two.txt": b"ab",
    "binary.bin": b"head\0tail alpha\n",
    "nul_late.txt": b"alpha " * 2000 + b"\0 late\n",
    "long_line.txt": b"x" * 70_000 + b" needle " + b"y" * 70_000 + b"\nshort\n",
    "huge.txt": b"needle in a huge file\n" + b"a long filling line\n" * (TOO_LARGE // 20),
    "blank_lines.txt": b"\n\n\nalpha\n\n\n",
    "tabs\tin name.txt": b"tabbed content\talpha\n",
    "space in name.txt": b"spaced content alpha\n",
    "Ünïcode.txt": b"unicode name alpha\n",
    "UPPER.TXT": b"UPPER CASE ALPHA\nMixed Case Alpha\n",
    "quotes.c": b'int main(void) { return f("x\\n", \'y\'); } // a.b("x")\n',
    "repeat.txt": b"aaaaaaa\nabababab\nfoofoofoo foo\n",
    "meta.json": b'{"meta": "alpha", "or": "beta"}\n',
    "-dash.txt": b"-dash alpha\n",
    "or": b"or\nOR\nfor\n",
}


def make(folder: Path) -> dict[str, Path]:
    """Write the repositories below a folder; return name → folder."""
    trees = {name: folder / name for name in ("triseek-query", "pygments-lexers", "hostile")}
    _copy(ROOT / "triseek" / "query", trees["triseek-query"], 60)
    _copy(ROOT / "docs", trees["triseek-query"] / "docs", 30)
    pygments = find_spec("pygments")
    assert pygments is not None
    assert pygments.origin is not None
    _copy(Path(pygments.origin).parent / "lexers", trees["pygments-lexers"], 40)
    trees["hostile"].mkdir()
    for name, content in HOSTILE.items():
        (trees["hostile"] / name).write_bytes(content)
    return trees


def _copy(source: Path, target: Path, most: int) -> None:
    files = sorted(
        path
        for path in source.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.stat().st_size < 40_000
    )
    for path in files[:most]:
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
