"""Zed's files."""

from __future__ import annotations

import pytest

from tests.agents.places import place, plant
from triseek.agents.zed import Zed

SETTINGS = b"""\
// Zed settings
//
// For information on how to configure Zed, see its documentation.
{
  "ui_font_size": 16,
  "theme": {
    "mode": "system",
    "light": "One Light", // by day
    "dark": "One Dark",
  },
}
"""


@pytest.mark.parametrize("scope", ["user", "project"])
def test_settings_as_it_writes_them_itself_stay(tmp_path, scope):
    here = place(tmp_path)
    [edit] = Zed().plan(scope, here.here)
    plant(edit.path, SETTINGS)
    before = here.snapshot()

    [change] = here.install(Zed(), scope)

    assert change.after is not None
    assert change.after.startswith(SETTINGS[: SETTINGS.index(b"  },\n}")])
    assert edit.stands(change.after.decode())
    here.uninstall(Zed(), scope)
    assert here.snapshot() == before
