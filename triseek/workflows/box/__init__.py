"""Runs scripts behind a kernel boundary: `runner.run`. See docs/concepts/box.md."""
