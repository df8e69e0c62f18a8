"""python -m bench VERB: measures parts of triseek; `--help` lists the verbs."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bench import corpora, machine, record
from bench.memory import run as memory_run
from bench.model import Faulty
from bench.profiles import PROFILES
from bench.programmatic import run as programmatic_run
from bench.progress import Progress
from bench.zoekt import run as zoekt_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.history.report import Measured

_DOCS = Path(__file__).parents[1] / "docs" / "benchmarks"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb; 0 when all is well, 1 when an answer differed, 2 when it could not be done."""
    options = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that daemons are stopped
    try:
        return int(options.verb(options))
    except Faulty as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    verbs = parser.add_subparsers(required=True, metavar="VERB")

    run = verbs.add_parser("run", help="measure, and record what was measured")
    size = run.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="small corpus, two minutes at most")
    size.add_argument("--daemon", action="store_true", help="only what concerns the daemon")
    run.add_argument("--corpus", action="append", default=[], metavar="NAME")
    run.add_argument("--corpus-path", action="append", default=[], metavar="NAME=FOLDER")
    run.add_argument("--corpus-git", action="append", default=[], metavar="NAME=URL[@TAG]")
    run.add_argument("--engine", action="append", default=[], metavar="NAME")
    run.add_argument("--group", action="append", default=[], help="only these of queries/*.toml")
    run.add_argument("--out", type=Path, help="folder for the record (default: bench/record/...)")
    run.set_defaults(verb=_run)

    report = verbs.add_parser("report", help="write tables and pictures of a record")
    report.add_argument(
        "record", nargs="*", type=Path, help="default: the newest, and the daemon's newest"
    )
    report.add_argument("--out", type=Path, default=_DOCS)
    report.add_argument("--strict", action="store_true", help="fail when a budget is missed")
    report.set_defaults(verb=_report)

    compare = verbs.add_parser("compare", help="two records side by side")
    compare.add_argument("before", type=Path)
    compare.add_argument("after", type=Path)
    compare.add_argument("--engine", default="triseek")
    compare.set_defaults(verb=_compare)

    mcp = verbs.add_parser("mcp", help="measure the MCP server, and write its page")
    mcp.add_argument("--corpus", default="linux", metavar="NAME")
    mcp.add_argument("--corpus-path", action="append", default=[], metavar="NAME=FOLDER")
    mcp.add_argument(
        "--against", type=Path, metavar="FOLDER",
        help="a checkout of another version with its .venv: eight sessions at once, in turn",
    )  # fmt: skip
    mcp.add_argument("--out", type=Path, default=_DOCS / "mcp.md", help="the page")
    mcp.add_argument("--record", type=Path, help="the figures (default: bench/record/...)")
    mcp.set_defaults(verb=_mcp)

    tokens = verbs.add_parser("tokens", help="what answers cost in real agents, beside rg's output")
    tokens.add_argument("--git", action="append", default=[], metavar="NAME=CLONE")
    tokens.add_argument("--out", type=Path, default=_DOCS / "tokens.md", help="the page")
    tokens.add_argument("--record", type=Path, help="the figures (default: bench/record/...)")
    tokens.set_defaults(verb=_tokens)

    hooks = verbs.add_parser("hooks", help="measure what agents' hooks cost, and write the page")
    hooks.add_argument("--out", type=Path, default=_DOCS / "hooks.md", help="the page")
    hooks.add_argument("--record", type=Path, help="the figures (default: bench/record/...)")
    hooks.set_defaults(verb=_hooks)

    history = verbs.add_parser("history", help="recall and import of conversations, beside deja")
    history.add_argument(
        "--corpus", action="append", default=[], metavar="NAME=FILE",
        help="locomo=FILE or longmemeval=FILE",
    )  # fmt: skip
    history.add_argument(
        "--made-gb", type=float, default=0.0, metavar="GB", help="import as much, made by a program"
    )
    history.add_argument(
        "--commands", type=int, default=200, metavar="N",
        help="questions that `triseek history search` is asked, too (default: 200)",
    )  # fmt: skip
    history.add_argument("--deja", type=Path, metavar="PROGRAM", help="deja's program")
    history.add_argument(
        "--messages", type=int, metavar="N",
        help="instead: time of searches over N made messages, asked the corpora's questions",
    )  # fmt: skip
    history.add_argument(
        "--keep", type=Path, metavar="FOLDER",
        help="with --messages: make the history there, or take what is there",
    )  # fmt: skip
    history.add_argument("--out", type=Path, default=_DOCS / "history.md", help="the page")
    history.add_argument("--record", type=Path, help="folder of the figures")
    history.set_defaults(verb=_history)

    memory = verbs.add_parser("memory", help="quality and speed of the memory, and its page")
    memory_run.add_options(memory, _DOCS / "memory.md")

    zoekt = verbs.add_parser("zoekt", help="the Zoekt-compatible server beside Zoekt's own")
    zoekt_run.add_options(zoekt, _DOCS / "zoekt.md")
    zoekt.set_defaults(verb=_zoekt)

    programmatic = verbs.add_parser("programmatic", help="workflows beside single tools and grep")
    programmatic_run.add_options(programmatic, _DOCS / "programmatic.md")
    programmatic.set_defaults(verb=_programmatic)

    observations = verbs.add_parser("observations", help="how often derived observations are true")
    observations.add_argument("--git", action="append", default=[], metavar="OWNER/NAME=CLONE")
    observations.add_argument("--out", type=Path, default=_DOCS / "history.md", help="the page")
    observations.add_argument("--record", type=Path, help="folder of the figures")
    observations.set_defaults(verb=_observations)

    memo = verbs.add_parser("memo", help="replay agents' workdays to the memo, and write its page")
    memo.add_argument("--out", type=Path, default=_DOCS / "memo.md", help="the page")
    memo.add_argument("--record", type=Path, help="the figures (default: bench/record/...)")
    memo.set_defaults(verb=_memo)

    rank = verbs.add_parser("rank", help="how early a definition is shown, against path order")
    rank.add_argument("corpus", nargs="?", choices=["django", "linux"], default="django")
    rank.add_argument("--questions", action="store_true", help="questions with one right file")
    rank.add_argument("--half", choices=("tuning", "reported"), default="reported")
    rank.add_argument(
        "--against", type=Path, metavar="FOLDER",
        help="a checkout of another version with its .venv, which answers the questions too",
    )  # fmt: skip
    rank.add_argument("--corpus-path", action="append", default=[], metavar="NAME=FOLDER")
    rank.add_argument("--out", type=Path, help="folder for the record of the questions")
    rank.set_defaults(verb=_rank)

    trees = verbs.add_parser("corpora", help="list the corpora, or fetch the named ones")
    trees.add_argument("names", nargs="*")
    trees.set_defaults(verb=_corpora)

    pack = verbs.add_parser("pack", help="how well context packs find what commits changed")
    pack.add_argument("--half", choices=("tuning", "reported"), default="reported")
    pack.add_argument("--git", action="append", default=[], metavar="PROJECT=CLONE")
    pack.add_argument("--out", type=Path, help="folder for the record (default: bench/record/...)")
    pack.set_defaults(verb=_pack)

    handoff = verbs.add_parser("handoff", help="what a resumed session is told of what it needs")
    handoff.add_argument("--half", choices=("tuning", "reported"), default="reported")
    handoff.add_argument("--quick", action="store_true", help="the workdays alone; print, no page")
    handoff.add_argument("--git", action="append", default=[], metavar="PROJECT=CLONE")
    handoff.add_argument("--out", type=Path, help="folder for the record")
    handoff.set_defaults(verb=_handoff)
    return parser


def _run(options: argparse.Namespace) -> int:
    from bench import report
    from bench.run import Wanted, run

    profile = PROFILES["quick" if options.quick else "daemon" if options.daemon else "full"]
    places = {**_paths(options.corpus_path), **_clones(options.corpus_git)}
    named = tuple(options.corpus) or profile.corpora
    wanted = Wanted(
        profile=profile,
        corpora=named,
        engines=tuple(options.engine),
        places=places,
        groups=tuple(options.group),
    )
    described = machine.describe()
    folder = options.out or record.new_folder(record.FOLDER, profile.name)
    folder.mkdir(parents=True, exist_ok=True)
    results = run(wanted, Progress(), lambda so_far: record.write(folder, so_far, described))
    print(folder)
    wrong = report.errors(results)
    for line in wrong:
        print(f"bench: {line}", file=sys.stderr)
    return 1 if wrong else 0


def _mcp(options: argparse.Namespace) -> int:
    from bench.agents import measure, report
    from bench.engines.base import program_path

    rg = program_path("rg")
    if not rg:
        raise Faulty("rg is not on PATH; it is the reference of every answer")
    places = _paths(options.corpus_path)
    told = measure.run(options.corpus, places, rg, Progress(), options.against)
    return _write(options, "mcp", told, report.page(told))


def _write(options: argparse.Namespace, name: str, measured: object, page: str) -> int:
    """Write the record of a run and its page, and say where they are."""
    folder = options.record or record.new_folder(record.FOLDER, name)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    options.out.write_text(page, encoding="utf-8")
    print(folder, options.out, sep="\n")
    return 0


def _tokens(options: argparse.Namespace) -> int:
    from bench.engines.base import program_path
    from bench.tokens import measure, report

    rg = program_path("rg")
    if not rg:
        raise Faulty("rg is not on PATH; it is what answers are compared with")
    measured = measure.run(dict(map(_pair, options.git)), rg, Progress())
    return _write(options, "tokens", measured, report.page(measured))


def _hooks(options: argparse.Namespace) -> int:
    from bench.hooks import measure, report

    told = measure.run(Progress())
    return _write(options, "hooks", told, report.page(told))


def _memo(options: argparse.Namespace) -> int:
    from bench.memo import replay, report

    progress = Progress()
    told = []
    for path in replay.streams():
        progress.say(path.name)
        told.append(replay.replay(path))
    _write(options, "memo", told, report.page(told))
    faults = [f"{one['stream']}: {fault}" for one in told for fault in one["faults"]]
    for fault in faults:
        print(f"bench: {fault}", file=sys.stderr)
    return 1 if faults else 0


def _history(options: argparse.Namespace) -> int:
    from bench.history import corpora, large, measure, report, scale

    if not options.corpus and not options.made_gb:
        raise Faulty("nothing to measure: say --corpus or --made-gb")
    corpora_read = [(name, Path(path)) for name, path in map(_pair, options.corpus)]
    for name, _ in corpora_read:
        if name not in ("locomo", "longmemeval"):
            raise Faulty(f"no corpus is called {name}; say locomo=FILE or longmemeval=FILE")
    measured = report.read(options.record or report.RECORD)
    if options.messages:
        haystacks = [
            haystack for name, path in corpora_read for haystack in corpora.read(name, path)
        ]
        with tempfile.TemporaryDirectory() as folder:
            measured["large"] = large.measure(
                options.keep or Path(folder), options.messages, haystacks
            )
        return _write_history(options, measured)
    answers = []
    for name, path in corpora_read:
        answers += measure.measure(name, path, options.deja, Progress())
    if answers:
        measured["recall"] = answers
    if options.made_gb:
        size = int(options.made_gb * 1e9)
        measured["scale"] = scale.measure(size, options.deja, Progress())
    return _write_history(options, measured)


def _observations(options: argparse.Namespace) -> int:
    from bench.history import observations, report

    measured = report.read(options.record or report.RECORD)
    measured["observations"] = observations.measure(_paths(options.git), Progress())
    return _write_history(options, measured)


def _zoekt(options: argparse.Namespace) -> int:
    return zoekt_run.run(options, _paths(options.corpus_path), Progress())


def _programmatic(options: argparse.Namespace) -> int:
    return programmatic_run.run(options, _paths(options.clone), Progress())


def _write_history(options: argparse.Namespace, measured: Measured) -> int:
    from bench.history import report

    folder = options.record or report.RECORD
    report.write(measured, folder, options.out)
    print(folder, options.out, sep="\n")
    return 0


def _report(options: argparse.Namespace) -> int:
    from bench import budgets, report

    runs = [record.read(folder) for folder in options.record or record.latest()]
    for path in report.write(runs, options.out):
        print(path)
    found = budgets.outcomes([results for results, _ in runs])
    for outcome in found:
        name = f"{outcome.corpus} {outcome.case}".strip()
        print(f"{outcome.state:>12}  {outcome.what} [{name}]: {outcome.measured or '-'}")
    return int(options.strict and any(outcome.state == "missed" for outcome in found))


def _compare(options: argparse.Namespace) -> int:
    from bench.compare import compared

    before, _ = record.read(options.before)
    after, _ = record.read(options.after)
    print(compared(before, after, options.engine))
    return 0


def _rank(options: argparse.Namespace) -> int:
    from bench import ranking

    places = _paths(options.corpus_path)
    if options.questions:
        return _rank_questions(options, places)
    root = (
        places.get(options.corpus)
        or corpora.fetch(options.corpus, corpora.sources()[options.corpus])[0]
    )
    with tempfile.TemporaryDirectory() as index_dir:
        print(ranking.report(root.resolve(), Path(index_dir)))
    return 0


def _rank_questions(options: argparse.Namespace, places: dict[str, Path]) -> int:
    from bench.rank_questions import report
    from bench.rank_questions.measure import run

    results = run(options.half, places, options.against, Progress())
    print(report.text(results))
    if options.half == "reported":
        print(report.write(results, machine.describe(), options.out or report.RECORD, _DOCS))
    else:
        print(*report.misses(results), sep="\n")
    return 0


def _corpora(options: argparse.Namespace) -> int:
    known = corpora.sources()
    for name in options.names:
        if name not in known:
            raise Faulty(f"no corpus named {name!r}; known: {', '.join(known)}")
        root, version = corpora.fetch(name, known[name])
        print(f"{name} {version}: {root}")
    if not options.names:
        for name, source in known.items():
            print(f"{name:14} {source['kind']:14} {source['about']}")
    return 0


def _pack(options: argparse.Namespace) -> int:
    from bench.engines.base import program_path
    from bench.pack import report
    from bench.pack.run import run

    rg = program_path("rg")
    if not rg:
        raise Faulty("ripgrep is not installed here, and is one of those that are compared")
    results = run(options.half, _paths(options.git), rg, Progress())
    print(report.text(results))
    if options.half == "reported":
        print(report.write(results, machine.describe(), options.out or report.RECORD, _DOCS))
    return 0


def _handoff(options: argparse.Namespace) -> int:
    from bench.handoff import report
    from bench.handoff.histories import projects
    from bench.handoff.run import run
    from bench.memo.replay import streams

    half = "reported" if options.quick else options.half
    histories = [] if options.quick else projects()
    results = run(half, histories, _paths(options.git), streams(), Progress())
    print(report.text(results))
    if half == "reported" and not options.quick:
        print(report.write(results, machine.describe(), options.out or report.RECORD, _DOCS))
    for fault in results["faults"]:
        print(f"bench: {fault}", file=sys.stderr)
    return 1 if results["faults"] else 0


def _paths(given: Sequence[str]) -> dict[str, Path]:
    return {name: Path(folder) for name, folder in map(_pair, given)}


def _clones(given: Sequence[str]) -> dict[str, Path]:
    found = {}
    for name, address in map(_pair, given):
        url, _, tag = address.partition("@") if "://" in address else (address, "", "")
        source = {"kind": "git", "url": url, "version": tag}
        found[name] = corpora.fetch(name, source)[0]
    return found


def _pair(text: str) -> tuple[str, str]:
    name, found, value = text.partition("=")
    if not found or not value:
        raise Faulty(f"{text!r} should read NAME=VALUE")
    return name, value


if __name__ == "__main__":
    sys.exit(main())
