"""A validator of the part of JSON Schema that assay's schemas use; a word it does not know is an error, not a pass."""

from __future__ import annotations

from typing import Any

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "number": (int, float), "integer": (int,),
    "boolean": (bool,), "null": (type(None),),
}  # fmt: skip
# words that say nothing of other values
_ABOUT = {
    **dict.fromkeys(("required", "properties", "additionalProperties"), dict),
    **dict.fromkeys(("items", "minItems", "maxItems"), list),
    **dict.fromkeys(("minimum", "maximum"), (int, float)),
}
_SAID = {"$schema", "$defs", "title", "description"}


def violations(value: Any, schema: dict[str, Any], *, closed: bool = False) -> list[str]:
    """Where a document breaks its schema.

    Args:
        value: the document.
        schema: what it must be.
        closed: whether what an object has beyond its `properties` is a violation too.
    """
    found: list[str] = []
    _check(value, schema, schema, "$", found, closed)
    return found


def _is(value: Any, name: str) -> bool:
    return isinstance(value, _TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def _check(value: Any, schema: dict[str, Any], root: dict[str, Any], at: str, found: list[str], closed: bool) -> None:
    for word, told in schema.items():
        if word in _SAID or not isinstance(value, _ABOUT.get(word, object)):
            continue
        if word == "$ref":
            _check(value, root["$defs"][told.removeprefix("#/$defs/")], root, at, found, closed)
        elif word == "type":
            if not any(_is(value, name) for name in ([told] if isinstance(told, str) else told)):
                found.append(f"{at}: {value!r:.60} is no {told}")
        elif word in ("const", "enum"):
            if value not in ([told] if word == "const" else told):
                found.append(f"{at}: {value!r:.60} is not {told!r}")
        elif word in ("minimum", "maximum"):
            if value < told if word == "minimum" else value > told:
                found.append(f"{at}: {value!r} beyond the {word} {told}")
        elif word in ("minItems", "maxItems"):
            if len(value) < told if word == "minItems" else len(value) > told:
                found.append(f"{at}: {len(value)} items")
        elif word == "anyOf":
            tries = [violations(value, {"$defs": root["$defs"], **one}, closed=closed) for one in told]
            if all(tries):
                found.append(f"{at}: none of {len(told)} fits: {tries[0][0]}")
        elif word == "required":
            found += [f"{at}: lacks {name}" for name in told if name not in value]
        elif word == "properties":
            for name, one in told.items():
                if name in value:
                    _check(value[name], one, root, f"{at}.{name}", found, closed)
            found += [f"{at}: {name} is not described" for name in value if closed and name not in told]
        elif word == "additionalProperties":
            for name in set(value) - set(schema.get("properties", ())):
                _check(value[name], told, root, f"{at}.{name}", found, closed)
        elif word == "items":
            for i, one in enumerate(value):
                _check(one, told, root, f"{at}[{i}]", found, closed)
        else:
            raise ValueError(f"the word {word!r} of JSON Schema is not known here")
