"""A small history, commit by commit."""

from __future__ import annotations

import subprocess


class History:
    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *words):
        me = ["-c", "user.name=Ann", "-c", "user.email=e@example.invalid"]
        subprocess.run(["git", "-C", str(self.folder), *me, *words], check=True)

    def commit(self, subject, files):
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", subject)
