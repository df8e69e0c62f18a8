"""Small trees with everything that makes output difficult."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

LONG = "needle " + "padding " * 30 + "needle end\n"

FILES: dict[bytes, bytes] = {
    b"README.md": b"# Needle\n\nA needle in a haystack.\nneedle needle  needle\nend\n",
    b"a.txt": b"one\nneedle two\nthree\nfour\nfive needle\nsix needles\nseven\neight\nnine\nneedle",
    b"a+.txt": b"needle sorts here\n",
    b"a/b.txt": b"\tneedle indented\n  \t two\n    foo needle bar\n\nfoo\n",
    b"a/c/d.py": b"def needle(x):\n    return x\n\n\nclass Needle:\n    needle = 1  # needle\n",
    b"a/c/e.py": b"import os\nprint('foo(bar)')\n# no match here\n",
    b"crlf.txt": b"needle one\r\ntwo\r\nneedle three\r\n\r\nfour needle\r\nlast needle",
    b"empty.txt": b"",
    b"lf.txt": b"\n\n\nneedle\n\n\n",
    b"long.txt": LONG.encode() + b"short needle\n" + b"x" * 150 + b"\n" + LONG.encode(),
    b"unicode.txt": "naïve needle é\nстрока needle ß\n🎉 needle 🎉\nNEEDLE K ſ\n".encode(),
    b"latin1.txt": "caf\xe9 needle\n\xfcber\n".encode("latin-1"),
    b"bom.txt": b"\xef\xbb\xbfneedle after a mark\nsecond needle\n",
    b"with space.txt": b"a needle\n",
    b"percent%d.txt": b"100% needle %s\n",
    b"-dash.txt": b"-needle\n--needle\n",
    b"bin.dat": b"needle before\nabc\0def\nneedle after\n",
    b"nonutf8-\xff.txt": b"needle\n",
    b".hidden/h.txt": b"needle hidden\n",
    b".env": b"needle=1\n",
    b"ignored.log": b"needle ignored\n",
    b"build/out.txt": b"needle built\n",
    b".gitignore": b"*.log\n/build/\n",
    b"multi.txt": b"start\nfoo\nbar\nfoo\nbar\nend\nfoo bar\nneedle\n\nfoo\nbar",
    b"sub/.ignore": b"skip.txt\n",
    b"sub/skip.txt": b"needle skipped\n",
    b"sub/keep.txt": b"needle kept\nsecond\n",
    b"z.c": b'int main(void) { return needle(0); }\n/* needle */\nchar *s = "needle\\n";\n',
}


def plant(root: Path, files: dict[bytes, bytes] = FILES) -> Path:
    """Write a tree, and make it a git repository as far as ignore rules care."""
    (root / ".git").mkdir(parents=True)
    for name, content in files.items():
        path = os.path.join(os.fsencode(root), name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
    return root
