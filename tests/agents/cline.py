"""Cline's program, asked one prompt at a time."""

from __future__ import annotations

import contextlib
import subprocess
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.agents.place import PATIENCE_S, run
from tests.agents.script import Turn, uses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.agents.place import Place

NAME = "cline"
PROGRAM = "cline"
TRANSCRIPTS = ""
"""None that hooks are judged by."""
PROVIDER, MODEL = "openai-native", "gpt-5"
"""Of those whose address can be said, the one that asks as our model is asked."""


def configure(place: Place, url: str) -> None:
    """Tell Cline of the model at `url`."""
    words = ["-p", PROVIDER, "-k", "none", "-m", MODEL, "-b", f"{url}/v1"]
    run(["cline", "auth", *words], place.tree, place.env())


def ask(place: Place, prompt: str) -> None:
    """One prompt. Cline may find our model's answer too short; what it sent is what counts."""
    words = ["cline", "--json", "-P", PROVIDER, "-m", MODEL, "-t", "60", prompt]
    try:
        subprocess.run(
            words, cwd=place.tree, env=place.env(), stdin=subprocess.DEVNULL, capture_output=True,
            timeout=PATIENCE_S, check=False,
        )  # fmt: skip
    finally:
        run(["cline", "hub", "stop"], place.tree, place.env())  # a process of its own, which stays


class Session(NamedTuple):
    """Prompts of which each is a conversation."""

    place: Place

    def say(self, prompt: str) -> None:
        """Ask one prompt."""
        ask(self.place, prompt)


@contextlib.contextmanager
def session(place: Place, _url: str) -> Iterator[Session]:
    """Prompts to the model that it was configured for."""
    yield Session(place)


def ours(tool: str, **arguments: Any) -> list[Turn]:
    """Calls a tool of ours."""
    return [uses(f"triseek__{tool}", **arguments)]
