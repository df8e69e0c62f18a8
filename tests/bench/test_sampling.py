"""Patterns are sampled by the same rule every time."""

import pytest

from bench import corpora, sampling
from bench.model import Faulty

pytestmark = pytest.mark.rg


def test_samples_follow_document_frequency(tree, rg):
    listed = corpora.listing(tree, rg)

    sampled = sampling.sample(tree, listed, "my tree")

    assert sampled["top1"] in {"first", "frequent_token", "line"}
    assert sampled["selective"].startswith("rare_symbol_")
    assert sampled["moderate"].startswith("common_")
    assert sampled["slug"] == "MY_TREE"
    assert sampled["ext"] == "c"
    assert sampled["path_substring"] == "kernel"
    assert set(sampled) == set(sampling.PLACEHOLDERS)
    assert sampled == sampling.sample(tree, listed, "my tree")


def test_a_tree_too_small_to_sample_is_refused(tmp_path, rg):
    (tmp_path / "one.c").write_text("int main;\n")

    with pytest.raises(Faulty, match="too little text"):
        sampling.sample(tmp_path, corpora.listing(tmp_path, rg), "tiny")


def test_what_is_hidden_is_not_listed(tree, rg):
    listed = corpora.listing(tree, rg)

    assert b".hidden.c" not in listed
    assert listed == sorted(listed)
