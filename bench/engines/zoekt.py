"""Zoekt: positional trigrams in shards."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

from bench import answer, command
from bench.engines.base import ProcessEngine, either, program_path, size_of
from bench.model import Build, Faulty

if TYPE_CHECKING:
    from bench.model import Case, Corpus, Reply

_PLACE = re.compile(rb"(.*?):(\d+):")


class Zoekt(ProcessEngine):
    """`zoekt-index` into a scratch folder, then `zoekt`."""

    def version(self) -> str:
        """Its indexer knows; a build from a checkout says nothing useful."""
        argv = [program_path(self.settings["indexer"]), "-version"]
        done = command.run(argv, cwd=self.scratch.parent, keep=True)
        return f"zoekt {done.output.decode(errors='replace').strip() or '(version unknown)'}"

    def refuses(self, case: Case) -> str:
        """The command prints lines or names, in order of its ranking."""
        if case.mode != "lines" or case.word or case.limit:
            return "the command cannot (counts, files, whole words, first in path order)"
        return super().refuses(case)

    def prepare(self, corpus: Corpus) -> Build:
        """Index from nothing; no limits of size or trigrams, so that answers can be compared."""
        super().prepare(corpus)
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir(parents=True)
        return self._index()

    def update(self) -> Build:
        """For a plain folder it can only index all of it again."""
        return self._index()

    def _index(self) -> Build:
        limits = ["-large_file", "*", "-max_trigram_count", "1000000000"]
        argv = [program_path(self.settings["indexer"]), "-disable_ctags", *limits]
        ended = command.run([*argv, "-index", str(self.scratch), str(self.root)], cwd=self.root)
        if ended.code:
            raise Faulty(f"zoekt-index ended with {ended.code}: {ended.errors[-200:]}")
        return Build(
            seconds=ended.seconds,
            peak_rss_bytes=ended.peak_rss_bytes,
            index_bytes=size_of(self.scratch),
        )

    def argv(self, case: Case) -> list[str]:
        """Zoekt's query language: `case:` and `content:`, values in quotes."""
        pattern = either(case)
        if case.fixed:
            pattern = "|".join(re.escape(text) for text in case.patterns)
        query = ["case:no" if case.ignore_case else "case:yes", f"content:{_quoted(pattern)}"]
        if case.globs:
            suffixes = "|".join(re.escape(glob.removeprefix("*")) for glob in case.globs)
            query.append(f"file:{_quoted(f'(?:{suffixes})$')}")
        return [self.program, "-index_dir", str(self.scratch), " ".join(query)]

    def read(self, case: Case, reply: Reply) -> answer.Answer:
        """It prints a file's lines by rank; put them in order first."""
        found: dict[tuple[bytes, bytes], bytes] = {}
        for line in reply.output.split(b"\n"):
            place = _PLACE.match(line)
            if place:
                found[place[1], place[2]] = line
        ordered = sorted(found, key=lambda place: (place[0], int(place[1])))
        return answer.read(b"\n".join(found[place] for place in ordered), case.mode)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
