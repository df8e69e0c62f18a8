"""The program, the interpreter and the kernels."""

from __future__ import annotations

import subprocess

import pytest

from tests.agents.doctor.conftest import only
from triseek import __version__
from triseek.agents.doctor import installation
from triseek.kernels import cache


def test_the_program_that_a_shell_finds_is_fine(host, triseek):
    said = only(installation.program(host(program=triseek)))

    assert (said.level, said.detail) == ("ok", f"{__version__} at {triseek}")


@pytest.mark.parametrize(
    ("imported", "levels"), [("import re\nimport sys", ["ok", "info"]), ("import sys", ["ok"])]
)
def test_a_script_that_starts_slowly_is_told_of(host, programs, imported, levels):
    path = programs("triseek", f"\n{imported}\n")

    found = list(installation.program(host(program=str(path))))

    assert [finding.level for finding in found] == levels
    assert all("pip install -U pip" in finding.mend for finding in found[1:])


def test_without_a_program_there_is_nothing_to_give_to_agents(host):
    assert only(installation.program(host())).level == "fail"


def test_a_program_that_is_not_on_path_is_a_warning(host, tmp_path):
    away = tmp_path / "away" / "triseek"
    away.parent.mkdir()
    away.write_text("")

    found = list(installation.program(host(program=str(away))))

    assert [finding.level for finding in found] == ["ok", "warn"]
    assert str(away.parent) in found[1].mend


@pytest.mark.parametrize(
    ("script", "level", "word"),
    [
        (f"echo triseek {__version__}", "info", "of this version"),
        ("echo triseek 0.0.1", "warn", "version 0.0.1"),
        ("exit 1", "warn", "does not say its version"),
    ],
)
def test_another_triseek_that_comes_first_is_told_of(host, programs, tmp_path, script, level, word):
    programs("triseek", script)
    away = tmp_path / "triseek"
    away.write_text("")

    found = list(installation.program(host(program=str(away))))[1]

    assert found.level == level
    assert word in found.detail


def test_python_and_the_kernels_are_fine_here(host):
    assert only(installation.python(host())).level == "ok"
    assert only(installation.kernels(host())).level == "ok"


def test_kernels_that_are_not_compiled_are_a_warning(host, monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "none"))
    cache.directory.cache_clear()
    try:
        said = only(installation.kernels(host()))
    finally:
        monkeypatch.undo()
        cache.directory.cache_clear()

    assert (said.level, said.mend) == ("warn", "triseek warmup")


@pytest.mark.parametrize("which", ["kernels", "above"])
def test_kernels_that_others_may_write_fail_and_the_cure_is_named(
    host, monkeypatch, tmp_path, which
):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "above" / "kernels"))
    cache.directory.cache_clear()
    try:
        cache.mark_ready()
        fault = tmp_path / "above" if which == "above" else tmp_path / "above/kernels"
        fault.chmod(0o777)
        cache._trusted.clear()
        said = only(installation.kernels(host()))
        subprocess.run(said.mend, shell=True, check=True)
        after = only(installation.kernels(host()))
    finally:
        monkeypatch.undo()
        cache.directory.cache_clear()

    assert said.level == "fail"
    assert f"{fault} can be written by others (mode 0777)" in said.detail
    assert after.level == {"above": "ok", "kernels": "warn"}[which]
