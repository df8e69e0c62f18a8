"""Asks a real Zoekt server by its RPC interface: the least that a `CodeSource` needs."""

from __future__ import annotations

import base64
import json
import time
import urllib.request
from typing import Any

from triseek.model.code_search import CodeFile, CodeRequest, CodeResult, Repository


class PlainSource:
    """One host, asked without any of the client's care."""

    name = "zoekt"

    def __init__(self, url: str) -> None:
        self.url = url
        self.queries: list[str] = []

    def _ask(self, verb: str, body: dict[str, Any]) -> dict[str, Any]:
        request = urllib.request.Request(
            f"{self.url}/api/{verb}",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            result: dict[str, Any] = json.load(answer)
        return result

    def search(self, request: CodeRequest) -> CodeResult:
        self.queries.append(request.query)
        options = {
            "MaxDocDisplayCount": request.max_files,
            "MaxMatchDisplayCount": request.max_matches,
            "ShardMaxMatchCount": 10**6,
            "TotalMaxMatchCount": 10**7,
            "MaxWallTime": int(request.seconds * 1e9),
        }
        answer = self._ask("search", {"Q": request.query, "Opts": options})["Result"]
        files = [
            CodeFile(
                repository=file["Repository"],
                path=file["FileName"].encode(),
                version=file.get("Version") or "",
                branches=tuple(file.get("Branches") or ()),
                checksum=base64.b64decode(file.get("Checksum") or ""),
            )
            for file in answer["Files"] or ()
        ]
        skipped = answer.get("FilesSkipped", 0) + answer.get("ShardsSkipped", 0)
        partial = ("the host reached a limit",) if skipped or answer.get("Crashes") else ()
        return CodeResult(files=files, file_count=answer["FileCount"], partial=partial)

    def repositories(self, query: str = "") -> CodeResult:
        answer = self._ask("list", {"Q": query})["List"]
        entries = [
            Repository(
                name=each["Repository"]["Name"],
                branches=tuple(
                    (b["Name"], b["Version"]) for b in each["Repository"].get("Branches") or ()
                ),
                files=each["Stats"]["Documents"],
                indexed_at=_unix(each["IndexMetadata"]["IndexTime"]),
            )
            for each in answer["Repos"] or ()
        ]
        return CodeResult(repositories=entries)

    def read(self, repository: str, path: bytes) -> bytes:
        raise NotImplementedError(repository, path)


def _unix(text: str) -> float:
    return time.mktime(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S")) - time.timezone
