"""The stream of searches notices reuse that is wrong in any one way, or it would prove nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.memo.judge import Fault
from tests.memo.wrong_rules import believe_everything, ignore_agent, ignore_session
from tests.search.search_stream import SearchStream
from triseek.agents import codex
from triseek.app import answers_in_view
from triseek.memo import memo
from triseek.memo.context import Conversation
from triseek.search import reuse

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.app.contexts import Daemon

pytestmark = pytest.mark.slow

STREAMS = 4
EVENTS = 6_000


def ignore_changes(patch: pytest.MonkeyPatch) -> None:
    """Nothing that changes matters to an answer."""
    patch.setattr(reuse.Turn, "_still_holds", lambda *_: True)


def believe_that_all_was_shown(patch: pytest.MonkeyPatch) -> None:
    """What a server answered was shown as a whole, under the id of any call in view."""
    patch.setattr(codex, "_CUT", codex.re.compile(r"\Anever"))


def believe_any_text(patch: pytest.MonkeyPatch) -> None:
    """Any output of our tools is the answer."""
    patch.setattr(memo.output_match, "whole", lambda use: use.output and "same")
    patch.setattr(answers_in_view, "text_digest", lambda _text: "same")


def ignore_time(patch: pytest.MonkeyPatch) -> None:
    """Old outputs are never cleared without a word."""
    patch.setattr(Conversation, "is_late", lambda *_: False)


RULES: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    rule.__name__: rule
    for rule in (
        ignore_changes, believe_that_all_was_shown, believe_any_text,
        ignore_time, believe_everything, ignore_agent,
        ignore_session,
    )
}  # fmt: skip


@pytest.mark.parametrize("name", RULES)
def test_every_wrong_rule_is_noticed(name: str, tmp_path: Path, daemon: Daemon) -> None:
    for seed in range(STREAMS):
        with pytest.MonkeyPatch.context() as patch:
            RULES[name](patch)
            stream = SearchStream(tmp_path / str(seed), seed, daemon)
            try:
                stream.run(EVENTS)
            except Fault:
                return
            finally:
                stream.close()
    pytest.fail("no stream noticed it")
