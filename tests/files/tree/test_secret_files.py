"""Which contents may be stored."""

from __future__ import annotations

from pathlib import Path

import pytest

from triseek.files.tree import secret_files


@pytest.mark.parametrize(
    "path",
    [
        ".env", "prod.env", "src/.env.local", "server.pem", "id_rsa", "id_ed25519.pub", "KEY.txt",
        "config/credentials.json", "secrets/a.txt", "Passwords.csv", "terraform.tfstate",
        "api_token.txt", ".netrc", "a.kdbx", ".ssh/config", ".git/config",
    ],
)  # fmt: skip
def test_secrets_are_not_kept(tmp_path, path):
    (tmp_path / ".git").mkdir()

    assert not secret_files.may_keep(str(tmp_path), str(tmp_path / path), b"text\n")


@pytest.mark.parametrize("path", ["a.py", "src/auth/router.rs", "docs/tokenizer.md"])
def test_other_files_are(tmp_path, path):
    (tmp_path / ".git").mkdir()

    assert secret_files.may_keep(str(tmp_path), str(tmp_path / path), b"text\n")
    assert not secret_files.may_keep(
        str(tmp_path), str(tmp_path / path), b"-----BEGIN PRIVATE KEY-----"
    )


def test_what_lies_in_no_root_is_not_kept(tmp_path):
    (tmp_path / "root").mkdir()

    assert secret_files.may_keep(str(tmp_path), str(tmp_path / "a"), b"")
    assert not secret_files.may_keep(str(tmp_path / "root"), str(tmp_path / "a"), b"")
    assert not secret_files.may_keep("/", "/a", b"")


def test_ignore_files_of_every_folder_are_heard(tmp_path):
    (tmp_path / ".git" / "info").mkdir(parents=True)
    (tmp_path / ".git" / "info" / "exclude").write_text("excluded\n")
    (tmp_path / "sub" / "deep").mkdir(parents=True)
    (tmp_path / ".gitignore").write_text("*.out\n/sub/build\n!kept.out\n")
    (tmp_path / "sub" / ".gitignore").write_text("deep/hidden\n")
    below = str(tmp_path / "sub")

    def may(path):
        return secret_files.may_keep(below, str(Path(tmp_path, path)), b"")

    ignored = ["a.out", "sub/a.out", "sub/build/a", "sub/deep/hidden", "excluded"]
    assert [path for path in ignored if may(path)] == []
    assert all(may(path) for path in ("kept.out", "build", "sub/deep/other"))
