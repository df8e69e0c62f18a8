"""A process that remembers events, by the daemon or by itself, and prints how many it did."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from typing import TYPE_CHECKING

from triseek.app.registry import TOOLS
from triseek.daemon.standalone import front
from triseek.history import writing
from triseek.history.service import History
from triseek.model.call import Call

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

REMEMBER = next(tool for tool in TOOLS if tool.name == "remember")


@contextlib.contextmanager
def by_daemon(root: str) -> Iterator[Callable[[str], bool]]:
    """A function that remembers a text by the tool, as an agent does; whether it was written."""
    with front(root) as call:

        def remember(text: str) -> bool:
            return call(REMEMBER, {"text": text}, Call(connection="test")).error is None

        yield remember


@contextlib.contextmanager
def by_itself(root: str) -> Iterator[Callable[[str], bool]]:
    """The same in this process, as the command line does without a daemon."""
    with contextlib.closing(History()) as history:

        def remember(text: str) -> bool:
            draft = writing.Draft(text=text, project="repo", root=root)
            with history.database.write() as connection:
                writing.remember(connection, draft, time.time_ns() // 1_000_000)
            return True

        yield remember


def main(road: str, root: str, who: str, count: int) -> None:
    """Remember `count` texts of a writer."""
    with (by_daemon if road == "daemon" else by_itself)(root) as remember:
        written = sum(remember(f"writer {who} event {number}") for number in range(count))
    print(json.dumps(written))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
