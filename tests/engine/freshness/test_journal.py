"""The journal never says `unchanged` of a time in which something changed."""

from __future__ import annotations

import json
import shutil
import tempfile
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
)

from triseek import errors
from triseek.engine.freshness import journal as module
from triseek.engine.freshness.journal import BATCHES_MAX, NAME, PATHS_MAX, Clock, Journal
from triseek.store import atomic

WHATS = st.sampled_from(["created", "modified", "removed"])
SMALL = st.dictionaries(st.sampled_from([b"a.c", b"b/c.h", b"d/", b"\xff"]), WHATS)

MANY = {
    count: {b"%d" % number: "created" for number in range(count)}
    for count in (PATHS_MAX // 3, PATHS_MAX, PATHS_MAX + 1)
}


@pytest.fixture
def journal():
    made = Journal()
    made.watching_began()
    return made


def paths_of(since):
    return {path for batch in since.batches for path in batch.changes}


class Remembers(RuleBasedStateMachine):
    """A model that keeps everything that ever happened, beside the journal."""

    @initialize()
    def begin(self):
        self.clocks: list[tuple[Clock, int]] = []
        self.folder = tempfile.mkdtemp()
        self.events: list[dict | str] = []  # changes of a batch, or why clocks end here
        self.generations: list[int] = []
        self.journal = Journal.open(self.folder)
        self.saved = 0
        self.watched = False
        self.watch()

    def teardown(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def ended(self, why):
        self.events.append(why)

    @rule()
    def look(self):
        self.clocks.append((self.journal.clock, len(self.events)))

    @rule()
    def watch(self):
        before = self.journal.clock
        clock = self.journal.watching_began()
        assert clock.boot != before.boot
        assert clock.generation > before.generation
        self.watched = True
        self.ended("boot")
        self.clocks.append((clock, len(self.events)))

    @rule()
    def stop_watching(self):
        self.journal.watching_ended()
        self.watched = False
        self.ended("boot")

    @rule(changes=SMALL)
    def note(self, changes):
        before = self.journal.clock.generation
        after = self.journal.note(changes)
        assert after == before + bool(changes)
        if changes:
            self.events.append(changes)

    @rule(batches=st.sampled_from([3, BATCHES_MAX - 1, BATCHES_MAX, BATCHES_MAX + 1]))
    def note_often(self, batches):
        for _ in range(batches):
            self.note({b"often": "modified"})

    @rule(count=st.sampled_from(sorted(MANY)))
    def note_many(self, count):
        self.note(MANY[count])

    @rule()
    def lose(self):
        before = self.journal.clock.generation
        assert self.journal.lose() == before + 1
        self.ended("lost")

    @rule()
    def new_context(self):
        self.journal.bump_epoch()
        self.ended("epoch")

    @rule()
    def save(self):
        self.journal.save(self.folder)
        self.saved = self.journal.clock.generation

    @rule(watch=st.booleans())
    def restart(self, watch):
        """A kill, unless it was just saved: the journal does not know the difference."""
        self.journal = Journal.open(self.folder)
        assert self.journal.clock.generation > self.saved
        self.watched = False
        self.ended("boot")
        self.look()
        if watch:
            self.watch()

    @rule(place=st.integers(0, 60))
    def damage(self, place):
        path = Path(self.folder) / NAME
        if path.exists():
            data = bytearray(path.read_bytes())
            data[place % len(data)] ^= 0x10
            path.write_bytes(data)

    @invariant()
    def every_clock_ever_given_is_answered_rightly(self):
        for told, moment in self.clocks:
            self.ask(told, moment)
            ahead = told._replace(generation=self.journal.clock.generation + 1)
            assert self.journal.since(ahead).kind == "unknown"

    def ask(self, told, moment):
        assert Clock.parse(str(told)) == told
        since = self.journal.since(told)
        missed = self.events[moment:]
        if not self.watched:
            assert (since.kind, since.reason) == ("unknown", "not_watched")
        elif any(isinstance(event, str) for event in missed):
            assert since.kind == "unknown"
        elif not missed:
            assert since.kind == "unchanged"
        else:
            self.compare(since, missed)

    def compare(self, since, missed):
        """Nothing ended the clock, so all is told, or it is known that too much happened."""
        kept = sum(len(changes) for changes in missed if len(changes) <= PATHS_MAX)
        if len(missed) > BATCHES_MAX or kept > PATHS_MAX:
            assert (since.kind, since.reason) == ("unknown", "journal_overflow")
            return
        assert since.kind == "changed"
        assert len(since.batches) == len(missed)
        for batch, changes in zip(since.batches, missed, strict=True):
            assert batch.everything == (len(changes) > PATHS_MAX)
            assert batch.everything or batch.changes == changes


Remembers.TestCase.settings = settings(
    max_examples=60, stateful_step_count=40, deadline=None
)  # fmt: skip
test_a_model_that_remembers_everything_agrees = Remembers.TestCase


def test_a_batch_of_fifty_thousand_paths_is_kept_as_everything(journal):
    before = journal.clock
    journal.note({b"%d" % number: "modified" for number in range(50_000)})
    between = journal.clock
    journal.note({b"one": "removed"})

    assert [batch.everything for batch in journal.since(before).batches] == [True, False]
    assert paths_of(journal.since(between)) == {b"one"}


def test_an_overflow_of_paths_drops_the_oldest_batches_only(journal):
    clocks = []
    for number in range(3):
        clocks.append(journal.clock)
        journal.note({b"%d-%d" % (number, each): "created" for each in range(PATHS_MAX // 2)})

    assert journal.since(clocks[0]).reason == "journal_overflow"
    assert len(paths_of(journal.since(clocks[1]))) == PATHS_MAX


def test_what_a_caller_does_to_its_changes_later_is_not_seen(journal):
    before, changes = journal.clock, {b"a": "created"}
    journal.note(changes)
    changes.clear()

    assert paths_of(journal.since(before)) == {b"a"}


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (lambda journal: journal.bump_epoch(), "context_invalidated"),
        (lambda journal: journal.lose(), "events_lost"),
        (lambda journal: journal.watching_began(), "boot_changed"),
        (lambda journal: journal.watching_ended(), "not_watched"),
        (lambda journal: [journal.note({b"a": "modified"}) for _ in range(300)],
         "journal_overflow"),
    ],
)  # fmt: skip
def test_each_doubt_is_named(journal, act, reason):
    clock = journal.clock
    act(journal)

    assert journal.since(clock) == ("unknown", reason, ())


def test_a_clock_of_a_generation_to_come_is_a_reset(journal):
    clock = journal.clock

    assert journal.since(clock._replace(generation=clock.generation + 1)).reason == (
        "generation_reset"
    )


def test_a_restart_at_the_same_generation_is_not_unchanged(tmp_path):
    """The reference implementation judged (0, 0) of one run by (0, 0) of the next."""
    first = Journal.open(tmp_path)
    clock = first.watching_began()
    second = Journal.open(tmp_path)
    second.watching_began()

    assert second.since(clock._replace(generation=second.clock.generation)).reason == "boot_changed"


def test_generations_rise_over_saves_and_restarts(tmp_path):
    seen = []
    for _ in range(5):
        journal = Journal.open(tmp_path)
        journal.watching_began()
        seen.append(journal.note({b"a": "modified"}))
        journal.save(tmp_path)

    assert seen == sorted(set(seen))


@pytest.mark.parametrize(
    "body",
    [
        None, [], "x", {}, {"version": 2, "generation": 1, "epoch": 1},
        {"version": 1, "generation": -1, "epoch": 0}, {"version": 1, "generation": 1.5, "epoch": 0},
        {"version": 1, "generation": 1 << 60, "epoch": 0},
        {"version": 1, "generation": True, "epoch": 0}, {"version": 1, "generation": "1"},
    ],
)  # fmt: skip
def test_a_file_that_says_what_no_journal_says_is_begun_anew_above_everything(tmp_path, body):
    journal = Journal.open(tmp_path)
    for _ in range(1000):
        told = journal.note({b"a": "modified"})
    atomic.write_sealed(tmp_path / NAME, body)

    reopened = Journal.open(tmp_path)

    assert reopened.clock.generation > told - 1000
    assert reopened.clock.generation > 1 << 50
    assert reopened.since(reopened.clock).reason == "not_watched"


def test_a_journal_file_says_only_numbers(tmp_path, journal):
    journal.note({b"secret/name.c": "created"})
    journal.save(tmp_path)

    body = json.loads((tmp_path / NAME).read_text())["body"]
    assert body == {"version": 1, "generation": journal.clock.generation, "epoch": 0}


@pytest.mark.parametrize(
    "text",
    [
        "", "::", "0:0:0", "0123456789abcdef:1", "0123456789abcdef:1:2:3", "0123456789ABCDEF:1:2",
        "0123456789abcdef:01:2", "0123456789abcdef:-1:2", "0123456789abcdef:+1:2",
        "0123456789abcdef:1:2\n", " 0123456789abcdef:1:2", "0123456789abcdef:1_0:2",
        "0123456789abcdef:٣:2", "0123456789abcdef:1:" + "9" * 5000, "0123456789abcdef:1.0:2",
    ],
)  # fmt: skip
def test_what_is_no_clock_is_refused_in_one_short_line(text):
    with pytest.raises(errors.InvalidRequest, match="is no clock") as caught:
        Clock.parse(text)
    assert len(caught.value.message) < 100
    assert "\n" not in caught.value.message


@given(st.text(max_size=60))
def test_parsing_a_clock_ends_in_the_same_text_or_an_error(text):
    try:
        clock = Clock.parse(text)
    except errors.InvalidRequest:
        return
    assert str(clock) == text


def test_threads_that_note_always_see_their_own_change(journal):
    """The reference raised the generation first and pushed the entry later."""
    wrong = []

    def work(name):
        for number in range(40):
            before = journal.clock
            path = b"%s/%d" % (name, number)
            generation = journal.note({path: "modified"})
            since = journal.since(before)
            if path not in paths_of(since) or since.batches[-1].generation < generation:
                wrong.append((path, since.reason))

    start = journal.clock.generation
    threads = [threading.Thread(target=work, args=(name,)) for name in (b"a", b"b", b"c", b"d")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert wrong == []
    assert journal.clock.generation == start + 160


def test_memory_stays_bounded_over_many_batches(journal):
    for number in range(2000):
        journal.note({b"%d/%d" % (number, each): "modified" for each in range(50)})

    assert len(journal._batches) <= BATCHES_MAX
    assert journal._paths == sum(len(b.changes) for b in journal._batches) <= module.PATHS_MAX
