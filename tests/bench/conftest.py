"""A tiny corpus with everything in it that once made engines disagree."""

import pytest

from bench.engines.base import program_path


@pytest.fixture(scope="session")
def rg():
    found = program_path("rg")
    if not found:
        pytest.skip("needs ripgrep on PATH")
    return found


@pytest.fixture(scope="session")
def tree(tmp_path_factory):
    root = tmp_path_factory.mktemp("corpus") / "tree"
    (root / "kernel").mkdir(parents=True)
    for number in range(300):
        words = f"frequent_token common_{number % 7} rare_symbol_{number}\n"
        text = "first line\n" + words * 2
        (root / "kernel" / f"file{number:03}.c").write_text(text)
    (root / "odd:12:name.c").write_text("frequent_token here\n")
    (root / "binary.dat").write_bytes(b"frequent_token\n\0\n")
    (root / ".hidden.c").write_text("frequent_token unseen\n")
    return root
