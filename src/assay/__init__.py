"""assay finds the structure in data, and says which of it would survive a second look.

Names are loaded when first used, so that `import assay` is quick. `public.py` lists them; type checkers read
`__init__.pyi`, which `make stub` writes from that list.

>>> import assay
>>> assay.PCA.__name__
'PCA'
"""

from importlib import import_module

from assay.public import MODULES
from assay.version import __version__ as __version__

__all__ = ["__version__", *MODULES]


def __getattr__(name: str) -> object:
    if name not in MODULES:
        raise AttributeError(f"module 'assay' has no attribute {name!r}")
    module = MODULES[name]
    # the package `study` is itself callable, so that assay.study(data) and assay.study.run both work
    package = f"assay.{name}"
    value = import_module(package) if module.startswith(f"{package}.") else getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
