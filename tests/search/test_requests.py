"""Requests of the search tools, as they are read from an agent's arguments."""

from __future__ import annotations

from dataclasses import fields

import pytest
from pydantic import TypeAdapter, ValidationError

from triseek.search import requests
from triseek.search.requests import ContentOptions, SearchContentRequest

REQUESTS = [
    requests.FindFilesRequest, SearchContentRequest, requests.SearchPathAndContentRequest,
    requests.IndexStatusRequest, requests.ReindexRequest,
]  # fmt: skip


@pytest.mark.parametrize("request_type", REQUESTS)
def test_every_argument_is_described_and_no_other_is_taken(request_type: type) -> None:
    schema = TypeAdapter(request_type).json_schema()
    shared = {field.name for field in fields(ContentOptions)}

    assert schema["additionalProperties"] is False
    for name, body in schema.get("properties", {}).items():
        assert name in shared or body["description"], name


def test_a_search_is_for_a_literal_unless_it_says_otherwise() -> None:
    request = TypeAdapter(SearchContentRequest).validate_python({"query": "a.b"})

    assert request.mode == "literal"
    assert request.limit == requests.LIMIT
    assert request.patterns == ()


def test_a_mode_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(SearchContentRequest).validate_python({"query": "a", "mode": "glob"})
