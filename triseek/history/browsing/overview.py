"""What the page's filters offer, and the year as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from triseek.history.browsing import activity
from triseek.history.heat_map.layout import layout

if TYPE_CHECKING:
    from triseek.history.heat_map.layout import HeatMapDocument
    from triseek.history.service import History

PROJECTS_MAX = 500


class OverviewReply(TypedDict):
    """The year, and the agents and projects that are kept."""

    is_kept: bool
    """Whether there is a history."""
    agents: list[tuple[str, int]]
    """Names and numbers of conversations, most first."""
    projects: list[tuple[str, int]]
    types: list[tuple[str, int]]
    """Types of observations and how many there are, most first."""
    heat_map: HeatMapDocument


def overview(history: History, agent: str, project: str) -> OverviewReply:
    """Return the messages of each day of the year, and what can be filtered by.

    Args:
        history: What is kept.
        agent: Only this agent's messages.
        project: Only this project's messages, by its name or root folder.
    """
    last = activity.today()
    if not history.exists():
        empty = layout({}, last).document()
        return OverviewReply(is_kept=False, agents=[], projects=[], types=[], heat_map=empty)
    with history.database.read() as connection:
        days = activity.messages_by_day(connection, last, agent=agent, project=project)
        agents, projects = (
            connection.execute(
                f"SELECT {column}, count(*) FROM sessions WHERE NOT is_sub_agent AND {column} != ''"  # noqa: S608
                f" GROUP BY {column} ORDER BY count(*) DESC, {column} LIMIT {PROJECTS_MAX}"
            ).fetchall()
            for column in ("agent", "project")
        )
        types = connection.execute(
            "SELECT type, count(*) FROM observations GROUP BY type"
            " ORDER BY count(*) DESC, type LIMIT ?",
            (PROJECTS_MAX,),
        ).fetchall()
    heat_map = layout(days, last).document()
    return OverviewReply(
        is_kept=True, agents=agents, projects=projects, types=types, heat_map=heat_map
    )
