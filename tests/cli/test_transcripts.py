"""What people read: help and errors, kept as transcripts and reviewed as such.

`TRISEEK_GOLDEN=update pytest tests/cli/test_transcripts.py` writes them anew.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.running import triseek

GOLDEN = Path(__file__).parents[1] / "golden" / "cli"


def transcript_of(words: list[str], tree: Path) -> str:
    outcome = triseek(words, tree)
    shown = " ".join(["triseek", *words])
    text = f"$ {shown}\n{outcome.out.decode()}{outcome.err}[{outcome.status}]\n"
    return text.replace(str(tree), "/tree")


@pytest.mark.parametrize("name", ["errors", "help"])
def test_what_people_read_is_as_reviewed(
    name: str, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    path = GOLDEN / f"{name}.txt"
    expected = path.read_text()
    commands = [line[2:].split(" ")[1:] for line in expected.splitlines() if line[:2] == "$ "]

    said = "".join(transcript_of([word for word in words if word], tree) for words in commands)

    if os.environ.get("TRISEEK_GOLDEN") == "update":
        path.write_text(said)
    assert said == path.read_text()


def test_every_error_is_one_line_that_names_the_program() -> None:
    said = (GOLDEN / "errors.txt").read_text().split("$ ")[1:]

    for command in said:
        lines = command.splitlines()[1:-1]
        assert len(lines) <= 1 or all(line.startswith("triseek: ") for line in lines), command
