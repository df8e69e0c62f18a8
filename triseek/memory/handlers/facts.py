"""Handlers of kg_assert, kg_query and kg_retract."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.errors import InvalidRequest
from triseek.memory import names
from triseek.memory.graph import TRIPLES_MAX, record
from triseek.memory.handlers import checks
from triseek.model.moment import moment

if TYPE_CHECKING:
    from triseek.memory import requests, results
    from triseek.memory.context import MemoryContext
    from triseek.model.call import Call


def assert_fact(
    context: MemoryContext, request: requests.KgAssertRequest, _call: Call
) -> results.AssertedAnswer:
    """Write that a fact holds from now on.

    Raises:
        InvalidRequest: An argument is outside of its bounds, or there is no such palace.
        BackendFailure: No daemon runs.
        StateUnwritable, StateCorrupt, Busy: The database cannot be written.
    """
    checks.in_bounds(request)
    fact = (request.subject, request.predicate, request.object)
    for what, value in zip(("subject", "predicate", "object"), fact, strict=True):
        names.node(what, value)  # before a palace is made for it
    palace = context.palace(request.palace, creates=True)
    context.memory.assert_fact(
        palace, fact,
        confidence=request.confidence, provenance=request.provenance, multi=request.multi,
    )  # fmt: skip
    return {"status": "asserted"}


def query(
    context: MemoryContext, request: requests.KgQueryRequest, _call: Call
) -> results.FactsAnswer:
    """Return the facts of a subject.

    Raises as `assert_fact`, and:
        InvalidQuery: `as_of` is no time.
    """
    as_of_ms = moment(request.as_of, "as_of")
    if as_of_ms is not None and request.include_history:
        raise InvalidRequest(
            "as_of and include_history exclude each other", tool_step="Pass one of them."
        )
    subject = names.node("subject", request.subject)
    answer: results.FactsAnswer = {"subject": subject, "triples": []}
    palace = context.palace(request.palace)
    if not palace:
        answer["hint"] = checks.NO_PALACE
        return answer
    if request.include_history:
        triples = context.memory.fact_history(palace, subject)
    else:
        triples = context.memory.facts(palace, subject, as_of_ms=as_of_ms)
    answer["triples"] = [record(triple) for triple in triples]
    if len(triples) >= TRIPLES_MAX:
        answer["truncated"] = True
    return answer


def retract(
    context: MemoryContext, request: requests.KgRetractRequest, _call: Call
) -> results.RetractedAnswer:
    """End facts. Raises as `assert_fact`."""
    fact = (request.subject, request.predicate, request.object)
    for what, value in zip(("subject", "predicate"), fact, strict=False):
        names.node(what, value)
    palace = context.palace(request.palace)
    count = context.memory.retract(palace, fact) if palace else 0
    return {"status": "retracted" if count else "not_found", "retracted": count}
