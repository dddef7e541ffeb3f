"""Which engine is meant by a text, told before anything large is imported."""

from __future__ import annotations

from assay.errors import ParameterError

NAMES = ("local", "dask", "spark")
_SCHEMES = {"tcp": "dask", "tls": "dask", "ws": "dask", "wss": "dask", "inproc": "dask", "spark": "spark"}


def engine_named(given: str) -> str:
    """The name of the engine that a name or the address of a cluster means.

    Args:
        given: by the user.

    >>> engine_named("tcp://host:8786")
    'dask'
    """
    scheme, _, address = given.partition("://")
    name = _SCHEMES.get(scheme) if address else given
    if name in NAMES:
        return str(name)
    raise ParameterError(
        f"there is no engine {given!r}; there are {', '.join(NAMES)}, and addresses of clusters such as "
        "tcp://host:8786 (Dask) and spark://host:7077"
    )
