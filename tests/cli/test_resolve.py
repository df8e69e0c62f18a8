"""What was typed and the world around it become a plan."""

from __future__ import annotations

import pytest

from triseek.cli.args import parse
from triseek.cli.resolve import CommandPlan, resolve
from triseek.errors import InvalidRequest
from triseek.terminal.command_context import CommandContext

PIPE = CommandContext(terminal=False, width=80, plain=False, stdin_readable=False)
TERMINAL = PIPE._replace(terminal=True)
FED = PIPE._replace(stdin_readable=True)


def plan(*words: str, context: CommandContext = PIPE) -> CommandPlan:
    return resolve(parse(words), context)


def test_a_pipe_shows_neither_colour_nor_heading_nor_numbers() -> None:
    look = plan("x").look

    assert (look.palette, look.heading, look.line_number, look.path) == (None, False, False, True)


def test_a_terminal_shows_all_three_and_a_footer() -> None:
    decided = plan("x", context=TERMINAL)

    assert decided.look.palette is not None
    assert decided.look.heading
    assert decided.look.line_number
    assert decided.footer


@pytest.mark.parametrize("words", [["-c"], ["-l"], ["--json"], ["-q"], ["--files"], ["--stats"]])
def test_a_footer_ends_only_the_view_made_for_people(words: list[str]) -> None:
    assert not plan("x", *words, context=TERMINAL).footer


def test_no_color_and_a_dumb_terminal_mean_no_colour_unless_asked_for() -> None:
    plain = TERMINAL._replace(plain=True)

    assert plan("x", context=plain).look.palette is None
    assert plan("x", "--color=always", context=plain).look.palette is not None


def test_standard_input_is_searched_only_if_nothing_else_was_named() -> None:
    assert plan("x", context=FED).operands[0].kind == "stdin"
    assert plan("x", ".", context=FED).operands[0].kind == "tree"
    assert plan("--files", context=FED).operands[0].kind == "tree"
    assert plan("x").operands[0].kind == "tree"


def test_a_and_b_win_over_c_wherever_they_stand() -> None:
    request = plan("-A2", "-C1", "x").request

    assert (request.before, request.after) == (1, 2)


def test_counts_bend_as_ripgreps_do() -> None:
    assert plan("-c", "-o", "x").shows == "count_matches"
    assert plan("--count-matches", "-v", "x").shows == "count"


def test_ignore_flags_can_be_taken_back_one_by_one() -> None:
    scope = plan("--no-ignore", "--ignore-dot", "x").request.scope

    assert scope.no_ignore_vcs
    assert scope.no_ignore_parent
    assert not scope.no_ignore_dot


def test_the_last_word_on_a_type_counts() -> None:
    assert plan("-Tpy", "-tpy", "x").request.scope.types_not == ()
    assert plan("-tpy", "-Tpy", "x").request.scope.types_not == ("py",)
    order = plan("-Tall", "-tpy", "x").request.scope.type_order
    assert order == (("negate", "all"), ("select", "py"))


def test_colours_are_read_even_where_nobody_will_see_them() -> None:
    with pytest.raises(InvalidRequest, match="no colour"):
        plan("--colors=path:fg:mauve", "x")


def test_kind_literal_is_fixed_strings() -> None:
    assert plan("--kind", "literal", "a.b").request.pattern.fixed


def test_a_plain_switch_reaches_the_field_of_its_name() -> None:
    decided = plan("-b", "-o", "--trim", "-Ux", "--no-unicode", "-.", "-L", "-v", "-m3", "x")

    look, request = decided.look, decided.request
    assert (look.byte_offset, look.only_matching, look.trim, look.invert) == (True,) * 4
    assert (request.pattern.multiline, request.pattern.line, request.pattern.unicode) == (
        True, True, False,
    )  # fmt: skip
    assert (request.scope.hidden, request.scope.follow, request.max_count) == (True, True, 3)
