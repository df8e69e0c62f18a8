"""The page's files: all in the package, all named, none of them asking for anything elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from triseek.ui import app

if TYPE_CHECKING:
    from tests.ui.opened import Opened

ROOT = Path(app.__file__).parents[2]
STATIC = Path(app.__file__).parent / "static"
TEXTS = {path.name: path.read_text(encoding="utf-8") for path in STATIC.iterdir()}
MARKUP = (
    "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "DOMParser", "eval(",
    "new Function", "srcdoc", "createContextualFragment", "setHTMLUnsafe",
)  # fmt: skip


def test_every_file_is_served_and_no_other(opened: Opened) -> None:
    assert {name for name, _ in app.FILES.values()} == set(TEXTS)
    for path, (name, kind) in app.FILES.items():
        answer = opened.client.get(path)
        assert answer.text == TEXTS[name]
        assert answer.headers["content-type"].startswith(kind)


@pytest.mark.parametrize(
    "path",
    [
        "/../app.py", "/%2e%2e/app.py", "/..%2fapp.py", "/static/main.js", "/main.js/",
        "//etc/passwd",
        "/main.py", "/%2fetc%2fpasswd", "/index.html", "/etc/passwd", "/.git/config", "/other.txt",
    ],
)  # fmt: skip
def test_a_name_that_is_none_of_the_pages_leads_nowhere(opened: Opened, path: str) -> None:
    answer = opened.client.get(path, headers=opened.known, follow_redirects=False)

    assert answer.status_code in (307, 404)
    assert "nothing here" not in answer.text
    if answer.status_code == 307:  # `/main.js/` without its slash
        assert answer.headers["location"] == f"{opened.client.base_url}/main.js"


@pytest.mark.parametrize("name", sorted(name for name in TEXTS if name.endswith(".js")))
def test_values_become_text_and_never_markup(name: str) -> None:
    assert not [way for way in MARKUP if way in TEXTS[name]]


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_a_file_names_nobody_else(name: str) -> None:
    named = re.findall(r"""(?:https?:)?//[\w.-]+\.\w+[^\s"'`]*""", TEXTS[name])

    assert named in ([], ["http://www.w3.org/2000/svg"])


def test_the_document_has_nothing_inline() -> None:
    document = TEXTS["index.html"]

    assert "style=" not in document
    assert "<style" not in document
    assert not re.search(r"\son\w+=", document)
    assert not re.search(r"<script(?![^>]*\bsrc=)", document)


LOAD = "from triseek.ui import app; print(app.__file__, len(app.static_files()))"


def test_the_wheel_serves_the_page(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT, check=True, capture_output=True,
    )  # fmt: skip
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as held:
        held.extractall(tmp_path / "installed")

    done = subprocess.run(
        [sys.executable, "-c", LOAD],
        cwd=tmp_path / "installed", check=True, capture_output=True, text=True,
    )  # fmt: skip

    assert done.stdout.startswith(str(tmp_path))
    assert done.stdout.split()[1] == str(len(app.FILES))
