"""`triseek memory kg assert|query|retract|history`: facts and the time in which they held."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from triseek.memory import names
from triseek.memory.commands import showing
from triseek.memory.commands.calling import (
    NOTHING_KEPT,
    Palace,
    only_here,
    opened,
    palace_to_change,
    palace_to_read,
    palace_to_write,
    share,
)
from triseek.memory.graph import record
from triseek.model.plain_text import counted
from triseek.terminal import report_text, status
from triseek.terminal.moments import moment_ms
from triseek.terminal.plain_words import Argument, Json, Option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.memory.graph import Triple
    from triseek.terminal.command_context import CommandContext

Subject = Annotated[str, Argument("SUBJECT", "What the fact is about.")]
Predicate = Annotated[str, Argument("PREDICATE", "What is said of it, as depends_on.")]


def assert_(
    context: CommandContext,
    subject: Subject,
    predicate: Predicate,
    object_: Annotated[str, Argument("OBJECT", "The value, or another subject.")],
    multi: Annotated[
        bool, Option("", "Keep the other objects of this predicate: it may have several.")
    ] = False,
    confidence: Annotated[str, Option("SHARE", "From 0 to 1; 1 if none.")] = "",
    provenance: Annotated[str, Option("TEXT", "Where it is known from.")] = "",
    palace: Palace = "",
    json: Json = False,
) -> int:
    """Write that a fact holds from now on; what held of it before ends now.

    Examples: triseek memory kg assert checkout uses stripe ·
    triseek memory kg assert api depends_on redis --multi --provenance compose.yaml
    """
    only_here(context)
    level = share(confidence, "confidence", 1.0)
    for what, name in (("subject", subject), ("predicate", predicate), ("object", object_)):
        names.node(what, name)  # before a palace is made for it
    with opened(context) as memory:
        name = palace_to_write(memory, context, palace)
        triple = memory.assert_fact(
            name, (subject, predicate, object_),
            confidence=level, provenance=provenance, multi=multi,
        )  # fmt: skip
    document = {"palace": name, "status": "asserted", **record(triple)}
    [line] = showing.facts([triple])
    context.print(report_text.as_json(document) if json else report_text.readable(line))
    return status.FOUND


def query(
    context: CommandContext,
    subject: Subject,
    as_of: Annotated[str, Option("WHEN", "What held then: 2026-10-01, or 30d.")] = "",
    palace: Palace = "",
    json: Json = False,
) -> int:
    """Print the facts that hold of a subject.

    Exit status 1: there are none.

    Examples: triseek memory kg query checkout · triseek memory kg query checkout --as-of 2026-10-01
    """
    moment = moment_ms(as_of) if as_of else None
    with opened(context) as memory:
        name = palace_to_read(memory, context, palace)
        triples = memory.facts(name, subject, as_of_ms=moment) if name else ()
    return _print(context, name, subject, triples, json=json)


def history(
    context: CommandContext, subject: Subject, palace: Palace = "", json: Json = False
) -> int:
    """Print every fact that ever held of a subject, with the time in which it held.

    Exit status 1: there are none.

    Example: triseek memory kg history checkout
    """
    with opened(context) as memory:
        name = palace_to_read(memory, context, palace)
        triples = memory.fact_history(name, subject) if name else ()
    return _print(context, name, subject, triples, json=json)


def retract(
    context: CommandContext,
    subject: Subject,
    predicate: Predicate,
    object_: Annotated[str, Argument("OBJECT", "Only this one; all if none.")] = "",
    palace: Palace = "",
    json: Json = False,
) -> int:
    """End a fact now. Its history stays.

    Exit status 1: there was none.

    Examples: triseek memory kg retract checkout uses ·
    triseek memory kg retract api depends_on redis
    """
    only_here(context)
    with opened(context) as memory:
        name = palace_to_change(memory, context, palace)
        count = memory.retract(name, (subject, predicate, object_))
    document = {"palace": name, "retracted": count}
    context.print(report_text.as_json(document) if json else f"{counted(count, 'fact')} ended")
    return status.FOUND if count else status.NOTHING


def _print(
    context: CommandContext, palace: str, subject: str, triples: Sequence[Triple], *, json: bool
) -> int:
    if json:
        documents = [record(triple) for triple in triples]
        document = {"palace": palace or None, "subject": subject, "triples": documents}
        context.print(report_text.as_json(document))
    else:
        nothing = f"No facts of {subject!r}." if palace else NOTHING_KEPT
        text = "\n".join(showing.facts(triples)) or nothing
        context.print(report_text.readable(text))
    return status.FOUND if triples else status.NOTHING
