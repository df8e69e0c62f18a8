"""What the options of a request ask of a source of code."""

from __future__ import annotations

from triseek.compat import replies
from triseek.compat.options import search_arguments
from triseek.model.code_search import CodeResult


def test_a_limit_of_a_shard_is_one_of_each_repository():
    options = search_arguments(b'{"Q": "x", "Opts": {"ShardMaxMatchCount": 7}}').options
    assert options.request("x").max_counted == 7
    assert search_arguments(b'{"Q": "x"}').options.request("x").max_counted == 0


def test_files_that_were_left_are_counted():
    assert replies.stats(CodeResult(files_skipped=5))["FilesSkipped"] == 5
