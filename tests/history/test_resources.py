"""resources: addresses of records resolve."""

from __future__ import annotations

import pytest

from tests.history.rows import Rows
from triseek.errors import InvalidQuery
from triseek.history.database import open_database
from triseek.history.resources import TEMPLATES, resource


@pytest.fixture
def database(tmp_path):
    opened = open_database(str(tmp_path))
    yield opened
    opened.close()


def test_every_address_of_an_answer_resolves(database):
    rows = Rows(database)
    session = rows.session("a b/c")
    rows.observation(session, "Fix it", narrative="whole")
    rows.summary(session, "Do it", learned="much")
    rows.prompt(session, "please", number=4)

    for uri, first in {
        "claude-mem://observation/1": "## Fix it",
        "claude-mem://session/a b/c": "## Do it",
        "claude-mem://session/a%20b%2Fc": "## Do it",
        "claude-mem://session/1": "## Do it",
        "claude-mem://session/S1": "## Do it",
        "claude-mem://session-summary/1": "## Do it",
        "claude-mem://user-prompt/1": "## User Prompt #4",
    }.items():
        assert resource(database, uri).splitlines()[0] == first, uri
    assert all(template.startswith("claude-mem://") for template in TEMPLATES.values())


@pytest.mark.parametrize(
    "uri",
    ["", "1", "claude-mem://", "claude-mem://observation/", "claude-mem://observation/2",
     "claude-mem://observation/x", "claude-mem://session/none", "claude-mem://tool/1",
     "file:///etc/passwd", "claude-mem://user-prompt/9"],
)  # fmt: skip
def test_what_is_no_address_is_an_error(database, uri):
    with pytest.raises(InvalidQuery):
        resource(database, uri)
