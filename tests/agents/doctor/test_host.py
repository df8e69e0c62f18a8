"""Programs are run with a time limit."""

from __future__ import annotations

import time

import pytest


def test_a_program_gets_its_input_and_its_variables(host, programs):
    path = programs("echoes", 'cat; echo "$MORE" >&2; exit 3')

    ran = host().run([path], stdin=b"said", more={"MORE": "more"})

    assert (ran.status, ran.out, ran.err, ran.trouble) == (3, "said", "more\n", "")


def test_a_program_that_does_not_end_is_ended_with_its_children(host, programs):
    began = time.monotonic()

    ran = host().run([programs("sleeps", "sleep 600 & sleep 600")], limit_s=0.3)

    assert ran.status is None
    assert "no answer within" in ran.trouble
    assert time.monotonic() - began < 60


def test_a_program_that_is_not_there_does_not_start(host):
    ran = host().run(["/no/such/program"])

    assert ran.status is None
    assert ran.trouble.startswith("it does not start")


def test_where_no_time_is_left_nothing_is_run(host, programs):
    ran = host(until=time.monotonic() - 1).run([programs("fine", "exit 0")])

    assert (ran.status, ran.trouble) == (None, "there was no time left to ask")


@pytest.mark.parametrize("script", ["read line; echo held; cat > /dev/null", "echo held"])
def test_a_servers_input_is_open_until_it_has_answered(host, programs, script):
    ran = host().run([programs("server", script)], stdin=b"ask\n", held=b"held")

    assert (ran.status, ran.out) == (0, "held\n")


def test_a_program_is_found_on_path_only(host, programs):
    path = programs("mine", "exit 0")

    assert host().which("mine") == path
    assert host().which("no-such-program") == ""
