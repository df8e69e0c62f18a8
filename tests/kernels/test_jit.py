from pathlib import Path

from triseek import kernels
from triseek.kernels import cache, jit
from triseek.kernels.jit import REGISTRY


def test_warming_imports_every_kernel_and_says_that_they_are_ready(tmp_path, monkeypatch):
    said = []
    monkeypatch.setattr(cache, "directory", lambda: str(tmp_path))
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "0")
    assert not cache.is_ready()

    count = jit.warm(lambda *progress: said.append(progress))

    assert cache.is_ready()
    assert count == len(REGISTRY)
    names = jit.modules()
    assert said == [("compile", number, len(names)) for number in range(len(names) + 1)]


def test_every_module_with_a_kernel_is_warmed():
    folder = Path(kernels.__file__).parent
    decorated = {path.stem for path in folder.glob("*.py") if "\n@kernel(" in path.read_text()}
    assert decorated <= set(jit.modules())
