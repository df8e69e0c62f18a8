"""What commands run, however they are wrapped."""

from __future__ import annotations

import pytest

from triseek.history.commands_run import main_run, runs_of


@pytest.mark.parametrize(
    ("command", "program", "text", "folder", "is_check"),
    [
        ("cd /repo && CI=1 uv run pytest -q tests 2>&1 | tail -5", "pytest", "pytest -q tests", "/repo", True),  # noqa: E501
        (".venv/bin/python -m pytest a.py::b", "pytest", "pytest a.py::b", "", True),
        ("timeout -k 5 60 cargo test --lib", "cargo test", "cargo test --lib", "", True),
        ("npm run build || true", "npm run build", "npm run build", "", True),
        ("make -j4", "make", "make -j4", "", True),
        ("python tool.py --x 3", "python tool.py", "python tool.py --x 3", "", False),
        ("npx tsc --noEmit; echo $?", "tsc", "tsc --noEmit", "", True),
        ("git add a && git commit -m 'x y'", "git commit", "git commit -m x y", "", False),
        ("for f in *.py; do\npytest $f\ndone", "pytest", "pytest …", "", True),
        ("cat > a.py <<'E'\nmake test\nE", None, "", "", False),
        ("ls -la; cat x | grep y", None, "", "", False),
        ("", None, "", "", False),
    ],
)  # fmt: skip
def test_the_program_that_a_command_is_about(command, program, text, folder, is_check):
    run = main_run(runs_of(command))
    if program is None:
        assert run is None
    else:
        assert run is not None
        assert (run.program, run.text, run.folder, run.is_check) == (
            program,
            text,
            folder,
            is_check,
        )


@pytest.mark.parametrize(
    ("passing", "failing", "names", "is_covered"),
    [
        ("pytest -q tests", "pytest tests -x", (), True),
        ("pytest", "pytest tests/a.py", (), True),
        ("pytest tests/a.py", "pytest", (), False),
        ("pytest tests/a.py", "pytest", ("tests/a.py",), True),
        ("pytest tests/a.py", "pytest", ("tests/a.py", "tests/b.py"), False),
        ("cargo build", "cargo test", (), False),
        ("cd web && npm test", "npm test", (), False),
    ],
)  # fmt: skip
def test_a_pass_covers_a_failure(passing, failing, names, is_covered):
    one, other = main_run(runs_of(passing)), main_run(runs_of(failing))
    assert one is not None
    assert other is not None
    assert one.covers(other, frozenset(names)) is is_covered
