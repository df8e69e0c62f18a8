"""The definitions: every placeholder is filled, every budget and reason names a real case."""

import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

import bench
from bench import queries, sampling
from bench.engines import registry
from bench.model import Corpus
from bench.profiles import PROFILES
from bench.sessions import CYCLE

FOLDER = Path(bench.__file__).parent
SAMPLED = dict.fromkeys(
    sampling.PLACEHOLDERS,
    "x",
)


@pytest.fixture
def cases():
    linux = Corpus(name="linux", version="", root=Path(), files=1, size_bytes=1, pinned=True)
    return queries.cases(linux, SAMPLED, ())


def test_no_placeholder_is_left(cases):
    left = [text for case in cases for text in (*case.patterns, *case.globs) if "<" in text]

    assert left == []


def test_names_are_unique_and_all_13_families_are_there(cases):
    names = [case.name for case in cases]

    assert len(set(names)) == len(names)
    assert sum(name.startswith("families/") for name in names) == 13


def test_budgets_sessions_and_reasons_name_cases_that_exist(cases):
    names = [case.name for case in cases]
    budgets = tomllib.loads((FOLDER / "budgets.toml").read_text())["budget"]
    wanted = {name for budget in budgets for name in budget.get("cases", ())} | set(CYCLE)
    wanted |= {
        name
        for settings in registry.settings().values()
        for table in ("differs", "cannot")
        for name in settings.get(table, ())
    }

    assert [name for name in wanted if not any(fnmatch(real, name) for real in names)] == []


def test_profiles_name_engines_and_groups_that_exist():
    groups = {path.stem for path in (FOLDER / "queries").glob("*.toml")}
    for profile in PROFILES.values():
        assert set(profile.groups) <= groups
        assert {name for named in profile.sessions.values() for name in named} <= set(
            registry.settings()
        )


def test_expected_counts_are_only_held_against_the_pinned_tree():
    other = Corpus(name="linux", version="", root=Path(), files=1, size_bytes=1, pinned=False)

    assert all(case.expect is None for case in queries.cases(other, SAMPLED, ()))
