"""What the rules make of a recorded session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.history.synthesis.rules import drafts_of
from triseek.history.synthesis.session_events import load

if TYPE_CHECKING:
    from tests.history.recorded import Recorded
    from triseek.history.synthesis.draft import Draft


def derived(session: Recorded, rule: str = "") -> list[Draft]:
    """The drafts of a rule, or of all rules."""
    with session.database.read() as connection:
        view = load(connection, session.id)
    return [draft for draft in drafts_of(view) if rule in ("", draft.rule)]


def kinds(session: Recorded) -> list[tuple[str, str]]:
    """Type and title of all drafts."""
    return [(draft.type, draft.title) for draft in derived(session)]
