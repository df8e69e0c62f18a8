"""A harness that tells of what it does from several threads: `root session who threads count`.

Prints, for each of its threads, the numbers that were acknowledged, in order.
"""

from __future__ import annotations

import json
import sys
import threading

from triseek.ipc import client


def main(root: str, session: str, who: str, threads: int, count: int) -> dict[str, list[int]]:
    """Send notes, one to three at once."""
    acknowledged: dict[str, list[int]] = {f"{who}-{number}": [] for number in range(threads)}

    def send(name: str) -> None:
        number = 0
        while number < count:
            some = range(number, min(count, number + 1 + number % 3))
            notes = [
                {"kind": "read", "payload": {"path": f"f{n}.py", "who": name, "n": n}} for n in some
            ]
            asked = {"target_root": root, "session_id": session, "notes": notes}
            if client.ask("session_note", asked, timeout_s=60)["recorded"] == len(notes):
                acknowledged[name] += some
            number = some[-1] + 1

    working = [threading.Thread(target=send, args=(name,)) for name in acknowledged]
    for each in working:
        each.start()
    for each in working:
        each.join()
    return acknowledged


if __name__ == "__main__":
    root, session, who, threads, count = sys.argv[1:]
    print(json.dumps(main(root, session, who, int(threads), int(count))))
