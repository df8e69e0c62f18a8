"""A table of a TOML file: put in, taken out, and nothing else."""

from __future__ import annotations

import tomllib

import pytest

from tests.agents import configs
from triseek.agents.base import Refused, Traces
from triseek.agents.install.toml_edits import TomlTable

TABLE = TomlTable(
    "/f", ("mcp_servers", "triseek"), {"command": 'C:\\a "b"', "args": ["mcp", "serve"], "n": 1}
)
OURS = TomlTable("/f", TABLE.keys, {"command": "triseek", "args": ["mcp", "serve"]})


@pytest.mark.parametrize("name", configs.TOML)
def test_what_is_put_in_is_there(name):
    content = configs.TOML[name]
    text = None if content is None else content.decode()
    traces = Traces()

    new = TABLE.apply(text, traces)

    assert TABLE.stands(new)
    assert not TABLE.stands(text)
    told = tomllib.loads(new.removeprefix("\ufeff"))
    assert told["mcp_servers"]["triseek"] == TABLE.value
    assert TABLE.apply(new, Traces()) == new
    # Its program is not ours, so only an entry that runs triseek is taken out.
    assert TABLE.remove(new, traces) == new


@pytest.mark.parametrize("name", [name for name in configs.TOML if name != "empty table"])
def test_what_runs_triseek_comes_out_again(name):
    text, traces = (configs.TOML[name] or b"").decode(), Traces()
    if OURS.stands(text):
        assert "triseek" not in OURS.remove(text, traces)
    else:
        assert OURS.remove(OURS.apply(text, traces), traces) == text


@pytest.mark.parametrize("name", [name for name in configs.TOML_BROKEN if "UTF" not in name])
def test_what_cannot_be_edited_is_refused(name):
    with pytest.raises(Refused):
        TABLE.apply(configs.TOML_BROKEN[name].decode(), Traces())


def test_no_file_has_nothing_to_take_out():
    assert TABLE.remove(None, Traces()) is None
