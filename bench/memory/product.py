"""The product under measurement: the real profile as a process, or its `Memory` in this process."""

from __future__ import annotations

import json
import os
import subprocess
import uuid
from typing import TYPE_CHECKING, Any

from bench import command
from bench.engines.triseek_process import command_line, environment
from bench.model import Faulty
from triseek.kernels import jit

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from bench.command import Ended
    from bench.memory.corpora import Corpus


class Profile:
    """A `triseek memory serve` process, spoken to as its clients do: JSON-RPC lines."""

    def __init__(self, state: Path) -> None:
        """Start the process, with kernels compiled. state: its state folder."""
        jit.warm(lambda *_: None)
        self.state = state
        self._process = subprocess.Popen(
            command_line("memory", "serve"), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, **environment(state)}, cwd=state,
        )  # fmt: skip
        self._number = 0
        self._request(
            "initialize",
            {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "bench"}},
        )

    @property
    def process_id(self) -> int:
        """The process's number."""
        return self._process.pid

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """Call a tool and return its object.

        Raises:
            Faulty: The tool answers with an error.
        """
        result = self._request("tools/call", {"name": tool, "arguments": arguments})
        answer: dict[str, Any] = json.loads(result["content"][0]["text"])
        return answer

    def recalled(self, palace: str, query: str, limit: int) -> list[str]:
        """Return the ids of the drawers that are ranked, best first."""
        answer = self.call("memory_recall", palace=palace, query=query, top_k=limit)
        return [row["drawer_id"] for row in answer["results"] if row["layer"] >= 2]

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()

    def _request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise Faulty(f"triseek memory serve ended with status {self._process.wait(30)}")
        reply = json.loads(line)
        if reply["id"] != self._number or "result" not in reply:
            raise Faulty(f"triseek memory serve: {reply.get('error', line[:200])}")
        result: dict[str, Any] = reply["result"]
        return result


def bring_in(state: Path, corpora: Iterable[Corpus]) -> tuple[dict[str, str], Ended]:
    """Import the drawers of corpora, a palace each, by `triseek memory import`.

    Returns:
        The corpora's ids of drawers by UUID, and what the command cost.

    Raises:
        Faulty: Not all were imported.
    """
    from triseek.memory.exchange.exporting import FORMAT, VERSION

    ids: dict[str, str] = {}
    path = state / "drawers.jsonl"
    with path.open("w", encoding="utf-8") as file:
        print(json.dumps({"format": FORMAT, "version": VERSION}), file=file)
        for corpus in corpora:
            print(json.dumps({"kind": "palace", "name": corpus.name}), file=file)
            for drawer in corpus.drawers:
                name = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{corpus.name}/{drawer.id}"))
                ids[name] = drawer.id
                fields = {
                    "kind": "drawer", "drawer_id": name, "room": drawer.room,
                    "content": drawer.text, "created_at": drawer.created_ms,
                }  # fmt: skip
                print(json.dumps(fields), file=file)
    argv = command_line("memory", "import", str(path), "--json")
    ended = command.run(argv, cwd=state, env=environment(state), keep=True)
    if ended.code or json.loads(ended.output)["drawers"] != len(ids):
        raise Faulty(f"triseek memory import: {ended.output!r:.200} {ended.errors[-200:]}")
    path.unlink()
    return ids, ended
