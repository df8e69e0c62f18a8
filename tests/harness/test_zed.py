"""Zed's files."""

from __future__ import annotations

from tests.harness.installing import Place, comes_and_goes

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


def test_settings_as_it_writes_them_itself_stay(tmp_path):
    place = Place(tmp_path)
    path = place.home / ".config" / "zed" / "settings.json"
    place.write(path, SETTINGS)

    comes_and_goes(place, "zed", path)


def test_a_project_has_its_own(tmp_path):
    place = Place(tmp_path)
    path = place.cwd / ".zed" / "settings.json"
    place.write(path, SETTINGS)

    comes_and_goes(place, "zed", path, "project")
