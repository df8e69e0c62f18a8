"""An agent is known by how the name of its MCP client begins."""

from __future__ import annotations

import pytest

from triseek.model.client_name import is_named


@pytest.mark.parametrize(
    ("client", "names", "expected"),
    [
        ("codex-mcp-client", ("codex",), True),
        ("Codex", ("codex",), True),
        ("Visual Studio Code - Insiders", ("vscode", "visual studio code"), True),
        ("pi", ("pi",), True),
        ("pi/1.5", ("pi",), True),
        ("pipeline", ("pi",), False),
        ("raspberry pi", ("pi",), False),
        ("zed2", ("zed",), False),
        ("", ("pi",), False),
        ("pi", (), False),
    ],
)
def test_a_name_begins_with_whole_words(client, names, expected):
    assert is_named(client, names) is expected
