"""A study: which questions were asked of a data set, the ledger of looks, the findings.

The package and the function that does its work share a name that users type: `assay.study(data)` calls this module.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Room(ModuleType):
    """A module that can be called. Importing it sets `assay.study` to the module, whatever stood there before."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        from assay.study.run import study

        return study(*args, **options)

    @property
    def __wrapped__(self) -> Any:
        # help() and signatures show the function
        from assay.study.run import study

        return study


sys.modules[__name__].__class__ = _Room
