"""`triseek --type-list`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.cli import status
from triseek.cli.render.output import Output
from triseek.cli.resolve import type_choice

if TYPE_CHECKING:
    from triseek.cli.args import LowArgs
    from triseek.cli.world import World


def type_list(low: LowArgs, world: World) -> int:
    """Show every file type and its globs, after --type-add and --type-clear."""
    from triseek.query.filetypes import definitions

    out = Output(world.out)
    table = definitions(type_choice(low).changes)
    for name in sorted(table):
        out.write(f"{name}: {', '.join(table[name])}\n".encode())
    out.flush()
    return status.FOUND if table else status.NOTHING
