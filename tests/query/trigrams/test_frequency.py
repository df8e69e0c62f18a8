"""Frequencies of bytes and pairs: what is common in source code, and what is rare."""

import math
from pathlib import Path

import pytest

from triseek.query.trigrams import frequency
from triseek.query.trigrams.frequency import byte_rarity, probability, rarity


def test_the_table_has_a_figure_for_every_pair():
    rows = Path(frequency.__file__).with_name("byte_pairs.txt").read_text("ascii").split()

    assert len(rows) == frequency.SYMBOLS
    assert {len(row) for row in rows} == {frequency.SYMBOLS}


def test_the_shares_of_all_bytes_add_up_to_one_but_for_rounding():
    # All bytes outside of ASCII, and control characters but the tab, are one symbol.
    symbols = [0x09, *range(0x20, 0x7F), 0xFF]

    assert sum(probability(byte_rarity(byte)) for byte in symbols) == pytest.approx(1, rel=0.05)
    assert byte_rarity(0x00) == byte_rarity(0x80) == byte_rarity(0xFF)


def test_probability_and_bits_are_each_others_inverse():
    assert [probability(bits) for bits in (0, 1, 10)] == pytest.approx([1, 0.5, 2**-10])
    assert -math.log2(probability(7.25)) == pytest.approx(7.25)


def test_common_text_is_less_rare_than_uncommon_text():
    assert byte_rarity(ord("e")) < byte_rarity(ord("q")) < byte_rarity(ord("Q"))
    assert rarity(b"return") < rarity(b"zqxjkv")
    assert rarity(b"re") < rarity(b"ret") < rarity(b"return")


def test_a_single_byte_is_as_rare_as_its_row_says():
    assert rarity(b"x") == byte_rarity(ord("x"))
