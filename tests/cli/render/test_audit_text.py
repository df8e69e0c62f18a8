"""An audit as tables for a terminal."""

from __future__ import annotations

import re

from tests.cli.render.audits import Log, hostile
from triseek.cli.render import audit_text


def test_it_is_a_few_tables() -> None:
    log = Log()
    log.note("read_denied", path="retry.py", tokens=1200, harness="codex")
    log.note("prompt", prompt="why does\nit fail?", harness="codex")
    log.note("compact", source="auto", harness="codex")

    shown = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "WHEN", audit_text.text(log.report()))
    assert (
        shown
        == """\
/repo: 7 entries of 1 session
WHEN to WHEN

         reads  edits  searches  refused  tokens not read  prompts  compactions
  -          1      1         1        0                0        0            0
  codex      0      0         0        1            1,200        1            1
  all        1      1         1        1            1,200        1            1

Files
  reads  edits  refused  tokens not read  by        path
      1      1        1            1,200  -, codex  retry.py

Searches
  times  matches  by  kind     query
      1        0  -   literal  jitter

Dead ends
  entry  by  what
      2  -   jitter (literal) finds nothing

Prompts
  when              by     prompt
  WHEN  codex  why does it fail?
"""
    )


def test_long_tables_end_with_a_count() -> None:
    log = Log()
    for number in range(40):
        log.note("read", path=f"src/{number}.py")

    assert "\nand 26 more: --json, --html\n" in audit_text.text(log.report())


def test_nothing_in_a_log_reaches_the_terminal_as_it_is() -> None:
    shown = audit_text.text(hostile().report())

    assert re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", shown) is None


def test_entries_that_were_left_out_are_counted() -> None:
    report = Log().report()
    report.omitted["entries"] = 1_200

    assert "\n1,200 older entries are not in the snapshot\n" in audit_text.text(report)
