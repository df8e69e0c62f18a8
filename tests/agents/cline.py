"""Cline's program, asked one prompt at a time."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from tests.agents.place import PATIENCE_S, run

if TYPE_CHECKING:
    from tests.agents.place import Place

PROVIDER, MODEL = "openai-native", "gpt-5"
"""Of those whose address can be said, the one that asks as our model is asked."""


def configure(place: Place, url: str) -> None:
    """Tell Cline of the model at `url`."""
    words = ["-p", PROVIDER, "-k", "none", "-m", MODEL, "-b", f"{url}/v1"]
    run(["cline", "auth", *words], place.tree, place.env())


def ask(place: Place, prompt: str) -> None:
    """One prompt. Cline may find our model's answer too short; what it sent is what counts."""
    words = ["cline", "--json", "-P", PROVIDER, "-m", MODEL, "-t", "60", prompt]
    subprocess.run(
        words, cwd=place.tree, env=place.env(), stdin=subprocess.DEVNULL, capture_output=True,
        timeout=PATIENCE_S, check=False,
    )  # fmt: skip
