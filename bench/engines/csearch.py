"""google/codesearch: the index of trigrams per file that everybody knows."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from bench import answer, command
from bench.engines.base import ProcessEngine, either, program_path
from bench.model import Build, Faulty

if TYPE_CHECKING:
    from bench.model import Case, Corpus, Reply


class Csearch(ProcessEngine):
    """`cindex` into a scratch file, then `csearch`."""

    def version(self) -> str:
        """It has no version flag; Debian's package knows."""
        done = command.run(
            ["sh", "-c", "dpkg-query -W -f '${Version}' codesearch 2>/dev/null"],
            cwd=self.scratch.parent,
            keep=True,
        )
        return f"codesearch {done.output.decode().strip() or '(version unknown)'}"

    def refuses(self, case: Case) -> str:
        """It lists no files, and has no order to take the first of."""
        if case.mode == "paths":
            return "cannot list files"
        if case.limit:
            return "no order to take the first lines of"
        return super().refuses(case)

    def environment(self) -> dict[str, str]:
        """Its index is a file of ours."""
        return {"CSEARCHINDEX": str(self.scratch / "index")}

    def prepare(self, corpus: Corpus) -> Build:
        """Index from nothing."""
        super().prepare(corpus)
        self.scratch.mkdir(parents=True, exist_ok=True)
        (self.scratch / "index").unlink(missing_ok=True)
        return self._index()

    def update(self) -> Build:
        """It can only index all of it again."""
        return self._index()

    def _index(self) -> Build:
        argv = [program_path(self.settings["indexer"]), str(self.root)]
        ended = command.run(argv, cwd=self.root, env=self.environment())
        if ended.code:
            raise Faulty(f"cindex ended with {ended.code}: {ended.errors[-200:]}")
        return Build(
            seconds=ended.seconds,
            peak_rss_bytes=ended.peak_rss_bytes,
            index_bytes=(self.scratch / "index").stat().st_size,
        )

    def argv(self, case: Case) -> list[str]:
        """Plain text is quoted; a whole word is spelled out, as it has no flag for it."""
        pattern = either(case)
        if case.fixed:
            pattern = "|".join(re.escape(text) for text in case.patterns)
        if case.word:
            pattern = rf"\b(?:{pattern})\b"
        chosen = ["-c"] if case.mode == "count" else ["-n"]
        chosen += ["-i"] if case.ignore_case else []
        if case.globs:
            suffixes = "|".join(re.escape(glob.removeprefix("*")) for glob in case.globs)
            chosen += ["-f", f"(?:{suffixes})$"]
        return [self.program, *chosen, pattern]

    def read(self, case: Case, reply: Reply) -> answer.Answer:
        """Its paths are absolute."""
        return answer.read(reply.output, case.mode, below=os.fsencode(self.root))
