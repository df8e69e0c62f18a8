from __future__ import annotations

import json
import struct
import time
from typing import TYPE_CHECKING

import numpy as np
import pytest

from triseek.errors import InvalidRequest
from triseek.memory.vectors import minilm
from triseek.memory.vectors.embedder import Resting
from triseek.memory.vectors.hashing import Hashing

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def model() -> minilm.MiniLm:
    for package in (minilm.PACKAGE, "tokenizers", "threadpoolctl"):
        pytest.importorskip(package)
    return minilm.MiniLm()


def test_paraphrases_are_near(model: minilm.MiniLm) -> None:
    query, near, far = model.embed(
        ["How do I reset my password?", "Changing a forgotten login secret", "Bananas are yellow."]
    )
    assert query @ near > 0.45
    assert query @ far < 0.15


def test_numbers_are_those_of_the_reference(model: minilm.MiniLm) -> None:
    # sentence-transformers 6.2.0 with PyTorch 2.15.0 gives these.
    [vector] = model.embed(["The API gateway validates JWT tokens using RS256."])
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
    assert vector[:6] == pytest.approx(
        [-0.071693, -0.064910, -0.020888, -0.041895, 0.015054, -0.039311], abs=2e-5
    )


def test_a_batch_gives_what_each_text_gives_alone(model: minilm.MiniLm) -> None:
    texts = ["", "short", "a text of some more words than that", "word " * 90, "日本語 \ud800 café"]
    together = model.embed(texts)
    assert together.shape == (5, 384)
    for text, vector in zip(texts, together, strict=True):
        assert model.embed([text])[0] == pytest.approx(vector, abs=1e-5)
    assert model.embed([]).shape == (0, 384)


def test_what_follows_256_tokens_is_not_seen(model: minilm.MiniLm) -> None:
    begin = "word " * 300
    first, second = model.embed([begin, begin + "and something else altogether"])
    assert first == pytest.approx(second, abs=1e-6)


def test_weights_are_loaded_again_after_a_release(model: minilm.MiniLm) -> None:
    [before] = model.embed(["text"])
    model.release()
    assert model._loaded is None
    [after] = model.embed(["text"])
    assert (before == after).all()


def test_batches_waste_little() -> None:
    lengths = [3, 250, 4, 251, 120, 5, *[100] * 100]
    batches = list(minilm._batches(lengths))
    assert sorted(at for batch in batches for at in batch) == list(range(len(lengths)))
    for batch in batches:
        longest = max(lengths[at] for at in batch)
        assert longest * len(batch) <= minilm.BATCH_TOKENS
        assert longest <= min(lengths[at] for at in batch) * 1.25 + 2


@pytest.mark.parametrize(
    "data",
    [
        b"", b"\0" * 7, struct.pack("<Q", 1 << 60) + b"{}", struct.pack("<Q", 2) + b"[]",
        struct.pack("<Q", 2) + b"{}",
        *[
            struct.pack("<Q", len(head)) + head + b"\0" * 64
            for entry in (
                1, {}, {"dtype": "F32", "shape": [99], "data_offsets": [0, 64]},
                {"dtype": "F32", "shape": [4], "data_offsets": ["a", {}]},
            )
            for head in [json.dumps({"x": entry}).encode()]
        ],
    ],
)  # fmt: skip
def test_a_damaged_model_is_one_line(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(data)
    with pytest.raises(InvalidRequest, match="is damaged"):
        minilm._mapped(path)


def test_what_nobody_uses_is_released() -> None:
    class Counted(Hashing):
        released = 0

        def release(self) -> None:
            self.released += 1

    embedder = Counted()
    resting = Resting(embedder, 0.05)
    resting.touch()
    resting.touch()
    deadline = time.monotonic() + 10
    while not embedder.released and time.monotonic() < deadline:
        time.sleep(0.01)
    assert embedder.released == 1
