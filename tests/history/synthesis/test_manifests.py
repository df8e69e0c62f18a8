"""Changes of dependencies, settings and CI."""

from __future__ import annotations

import pytest

from tests.history.recorded import Recorded
from tests.history.synthesis.derived import derived, kinds
from triseek.history.synthesis.manifests import is_manifest


@pytest.mark.parametrize(
    ("path", "before", "after", "title"),
    [
        ("pyproject.toml", '  "attrs>=22.1",', '  "attrs>=23.2",', "Changed attrs 22.1→23.2 in pyproject.toml"),  # noqa: E501
        ("requirements.txt", "attrs==22.1", "attrs==22.1\nrich==14", "Added rich 14 in requirements.txt"),  # noqa: E501
        ("web/package.json", '"vite": "^5.0.1",', '"vite": "^6.0.0",', "Changed vite 5.0.1→6.0.0 in web/package.json"),  # noqa: E501
        ("Cargo.toml", 'serde = { version = "1.0" }', 'serde = { version = "1.1" }', "Changed serde 1.0→1.1 in Cargo.toml"),  # noqa: E501
        ("go.mod", "\tgolang.org/x/text v0.3.0", "\tgolang.org/x/text v0.4.0", "Changed golang.org/x/text 0.3.0→0.4.0 in go.mod"),  # noqa: E501
        (".github/workflows/ci.yml", "a: 1", "a: 2", "Changed .github/workflows/ci.yml (+1/−1)"),
        ("db/migrate/001_users.rb", "", "x", "Changed db/migrate/001_users.rb (+1/−0)"),
    ],
)  # fmt: skip
def test_the_title_says_what_changed(database, path, before, after, title):
    session = Recorded(database).prompt("x").edit(path, before, after)
    assert kinds(session) == [("change", title)]


def test_a_lower_version_is_a_trade_off(database):
    session = Recorded(database).prompt("x").edit("requirements.txt", "numpy==2.10", "numpy==2.9")
    assert derived(session)[0].concepts == ("what-changed", "trade-off")


def test_a_command_that_adds_a_package(database):
    session = Recorded(database).prompt("x").run("npm install --save-dev vitest", "added 1 package")
    session.run("cargo add serde", "error: no such crate", 101).run("pip install x", "ok")
    assert kinds(session) == [("change", "Added vitest with npm install")]


def test_source_is_no_manifest():
    assert not is_manifest("src/package.py")
    assert is_manifest("services/api/Dockerfile")
