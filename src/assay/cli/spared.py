"""What libraries load for others and a report has no use for: half a second of a small one.

scikit-learn imports pandas, where it is installed, and `scipy.stats`; SciPy takes every module of NumPy, tests and
Fortran's compiler among them; pyarrow looks for pandas when it makes its first array. In a process of our own they are
loaded as if pandas were not there, and the others once they are used. Somebody else's question may use any of it, and
so may an engine: then all is as ever.
"""

import gc
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import entry_points
from importlib.util import LazyLoader
from types import ModuleType

_LATER = ("scipy.stats", "numpy.f2py", "numpy.testing")
_SEARCHES = 100  # of younger objects before one of all
_own = False  # whether this process is ours: to pyarrow, pandas is not there for as long as it lasts


def own_process() -> None:
    """Say that nobody else's code runs in this process."""
    global _own
    _own = True
    # a search of all that is alive for what is not finds nothing here, and took a tenth of a report; young objects are
    # searched as ever
    gc.set_threshold(*gc.get_threshold()[:2], _SEARCHES)


def load_libraries(engine: str | None = None) -> None:
    """Import scikit-learn and pyarrow without what a report has no use for; nothing in a process of somebody else.

    Args:
        engine: the one that was asked for.
    """
    if not _own or engine not in (None, "local") or {"sklearn", "pandas"} & set(sys.modules):
        return
    if any(not point.value.startswith("assay.") for point in entry_points(group="assay.questions")):
        return
    with _spared():
        import pyarrow as pa
        import sklearn.base  # noqa: F401

        pa.array([0])


class _Finder(MetaPathFinder):
    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name == "pandas":
            raise ModuleNotFoundError("pandas is not looked for here", name=name)
        spec = PathFinder.find_spec(name, path, target) if name in _LATER else None
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec


@contextmanager
def _spared() -> Iterator[None]:
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in _LATER:
            found = sys.modules.get(name)
            if found is not None and type(found) is not ModuleType:  # nobody used it: whoever does imports it anew
                del sys.modules[name]
                package, _, own = name.rpartition(".")
                vars(sys.modules[package]).pop(own, None)
