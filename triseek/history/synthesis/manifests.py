"""Rule: a change of dependencies, configuration, migrations or CI is an observation of its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from triseek.history.synthesis.draft import TITLE_MAX, Draft, DraftEvidence, facts_of, one_line
from triseek.history.synthesis.edit_shape import lines_changed

if TYPE_CHECKING:
    from triseek.history.synthesis.session_events import EventFile, SessionEvent, SessionView

RULE = "manifest"

_MANIFESTS = re.compile(
    r"(?:^|/)(?:package\.json|pyproject\.toml|setup\.(?:cfg|py)|requirements[\w.-]*\.(?:txt|in)|Pipfile"
    r"|Cargo\.toml|go\.mod|pom\.xml|build\.gradle(?:\.kts)?|libs\.versions\.toml|Gemfile|composer\.json"
    r"|mix\.exs|pubspec\.yaml|deno\.jsonc?)$"
)
_SETTINGS = re.compile(
    r"(?:^|/)(?:\.github/workflows/[^/]+|\.gitlab-ci\.yml|\.circleci/[^/]+|Jenkinsfile|azure-pipelines\.yml"
    r"|\.travis\.yml|Dockerfile[\w.-]*|(?:docker-)?compose[\w.-]*\.ya?ml|tsconfig[\w.-]*\.json|tox\.ini"
    r"|\.eslintrc[\w.]*|eslint\.config\.\w+|ruff\.toml|mypy\.ini|pytest\.ini|\.pre-commit-config\.yaml"
    r"|(?:vite|webpack|jest|babel|next|rollup|tailwind)\.config\.\w+|[\w.-]+\.tf|renovate\.json)$"
    r"|(?:^|/)(?:migrations?|migrate|alembic/versions|db/migrate)/[^/]+\.(?:py|sql|rb|js|ts|go)$"
)
_DEPENDENCY = re.compile(
    r"""^[ \t+]*["']?(?P<name>@?[A-Za-z][\w./@-]*(?:\[[\w,-]*\])?)["']?\s*
        (?P<op>[:=]\s*(?:\{\s*version\s*=\s*)?["']?\s*[\^~]?|[=<>~!^]{1,3}\s*|\s+)(?P<pin>[=<>~!^]{0,2})\s*
        v?(?P<version>\d[\w.+-]*)""",
    re.VERBOSE | re.MULTILINE,
)
_ADDS = re.compile(
    r"(?:npm (?:install|i|add)|yarn add|pnpm add|bun add|cargo add|uv add|poetry add|pdm add|go get|composer require)$"  # noqa: E501
)
_NOT_PACKAGES = frozenset(("version", "python", "requires-python", "line-length", "target-version", "edition"))  # fmt: skip  # noqa: E501


class VersionChange(NamedTuple):
    """A dependency whose version an edit changes; "" where there is none."""

    name: str
    old: str
    new: str

    @property
    def lowers(self) -> bool:
        """Whether the new version is lower."""
        return bool(self.old and self.new) and _order(self.new) < _order(self.old)

    def text(self) -> str:
        """Return `requests 1.2→1.3`."""
        if not self.old:
            return f"{self.name} {self.new}"
        return f"{self.name} {self.old}→{self.new}" if self.new else f"{self.name} {self.old}"


def is_manifest(path: str) -> bool:
    """Whether a file declares dependencies, settings of tools, CI or a migration."""
    return _MANIFESTS.search(path) is not None or _SETTINGS.search(path) is not None


def manifests(view: SessionView) -> list[Draft]:
    """Return a draft for each manifest of each prompt, and for each command that adds packages."""
    by_file: dict[tuple[int, str], list[tuple[SessionEvent, EventFile]]] = {}
    drafts: list[Draft] = []
    for event in view.events:
        for use in event.edits:
            if is_manifest(use.path):
                by_file.setdefault((event.prompt, use.path), []).append((event, use))
        drafts += _added(event)
    return drafts + [_draft(path, uses) for (_, path), uses in by_file.items()]


def version_changes(before: str, after: str) -> list[VersionChange]:
    """Return the dependencies whose versions differ between two texts of a manifest."""
    old, new = _versions(before), _versions(after)
    names = dict.fromkeys([*old, *new])
    changes = (VersionChange(name, old.get(name, ""), new.get(name, "")) for name in names)
    return [change for change in changes if change.old != change.new][:20]


def _versions(text: str) -> dict[str, str]:
    found = {match["name"]: match["version"] for match in _DEPENDENCY.finditer(text)}
    return {name: version for name, version in found.items() if name not in _NOT_PACKAGES}


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d{1,9}", version)[:6])


def _draft(path: str, uses: list[tuple[SessionEvent, EventFile]]) -> Draft:
    changes: list[VersionChange] = []
    plus = minus = 0
    for _, use in uses:
        if _MANIFESTS.search(path):
            changes += version_changes(use.before, use.after)
        added, removed = lines_changed(use.before, use.after)
        plus, minus = plus + added, minus + removed
    last = uses[-1][0]
    verb = "Changed"
    if changes and all(not change.old for change in changes):
        verb = "Added"
    elif changes and all(not change.new for change in changes):
        verb = "Removed"
    shown = ", ".join(change.text() for change in changes[:3])
    title = f"{verb} {shown} in {path}" if shown else f"Changed {path} (+{plus}/−{minus})"
    lowered = [change for change in changes if change.lowers]
    return Draft(
        rule=RULE, type="change", title=one_line(title, TITLE_MAX),
        facts=facts_of([*(change.text() for change in changes), f"{path} +{plus}/−{minus}"]),
        concepts=("what-changed", *(("trade-off",) if lowered else ())),
        evidence=DraftEvidence(
            events=tuple(event for event, _ in uses), files=tuple(use for _, use in uses)
        ),
        prompt=last.prompt, time_ms=last.time_ms, value=2.5,
    )  # fmt: skip


def _added(event: SessionEvent) -> list[Draft]:
    """Return a draft if the event's command adds packages to a manifest."""
    if event.outcome != "passed":
        return []
    run = next((run for run in event.runs if _ADDS.match(run.program)), None)
    packages = sorted(run.operands) if run is not None else []
    if run is None or not packages:
        return []
    return [
        Draft(
            rule="add-package",
            type="change",
            title=one_line(f"Added {', '.join(packages[:4])} with {run.program}", TITLE_MAX),
            facts=facts_of([run.text]),
            concepts=("what-changed",),
            evidence=DraftEvidence(events=(event,)),
            prompt=event.prompt,
            time_ms=event.time_ms,
            value=2.5,
        )
    ]
