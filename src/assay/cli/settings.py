"""Settings from a file: what was not said on the command line is taken from assay.toml."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from assay.cli.streams import say
from assay.cli.terminal import explained
from assay.errors import ParameterError
from assay.shown import meant

NAME = "assay.toml"
# what a file that lies in a folder must not decide for whoever works there
_NEVER = {
    "force": "what may be overwritten is said on the command line only",
    "debug": "it is said on the command line only",
    "config": "a file of settings names no other",
    "help": "it is said on the command line only",
}
SENSITIVE = "assay.sensitive"


@dataclass(frozen=True, slots=True)
class Taken:
    """Settings that a command got from a file.

    Attributes:
        context: of the command.
        path: of the file.
        names: of the settings.
    """

    context: Any
    path: Path
    names: tuple[str, ...]

    def say(self) -> None:
        """Tell which settings came from the file; what the command line says goes before them."""
        heeded = [name for name in self.names if self.context.get_parameter_source(name).name == "DEFAULT_MAP"]
        if heeded:
            say(f"note: from {self.path}: {', '.join(name.replace('_', '-') for name in heeded)}")


def taken(context: typer.Context, value: str | None) -> Any:
    """A callback for the option that names the file; where it is not given, assay.toml of this folder is looked for.

    Args:
        context: of the command, to which the settings are given.
        value: the file that was named.
    """
    with explained(bool(context.params.get("debug"))):
        path = Path(NAME if value is None else value)
        if value is None and not path.is_file():
            return None
        text = _text(path)
        heeded = _Settings(path, text, context).heeded()
        context.default_map = heeded
        context.meta[SENSITIVE] = heeded.get("sensitive", [])
        return Taken(context, path, tuple(heeded))


def also_sensitive(context: typer.Context, value: list[str] | None) -> list[str] | None:
    """A callback: columns that the file calls sensitive stay so, whatever others the command line names."""
    return [*dict.fromkeys([*(value or []), *context.meta.get(SENSITIVE, [])])] or None


def _text(path: Path) -> str:
    from assay.system_errors import with_remedy

    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ParameterError(f"cannot read the settings {path}: there is no such file") from None
    except UnicodeDecodeError as error:
        raise ParameterError(f"cannot read the settings {path}: byte {error.start} is not UTF-8") from None
    except OSError as error:
        raise ParameterError(f"cannot read the settings {path}: {with_remedy(error)}") from None


class _Settings:
    """One file, read for one command."""

    def __init__(self, path: Path, text: str, context: Any) -> None:
        import tomllib

        self._path, self._text, self._context = path, text, context
        try:
            self._all = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ParameterError(f"cannot read the settings {path}: {error}") from None
        self._commands = context.parent.command.commands if context.parent is not None else {}

    def heeded(self) -> dict[str, Any]:
        """What the file says for this command: common settings, then those of its own section."""
        every = {name: param for command in self._commands.values() for name, param in _known(command).items()}
        common: dict[str, Any] = {}
        for key, value in self._all.items():
            if isinstance(value, dict) and key in self._commands:
                continue
            self._check("", key, every, sections=True)
            if _plain(key) in _known(self._context.command):
                common[_plain(key)] = self._converted("", key, value)
        for section, command in self._commands.items():
            for key in self._all.get(section, {}):
                self._check(section, key, _known(command))
        section = str(self._context.info_name)
        own = self._all.get(section, {})
        return common | {_plain(key): self._converted(section, key, value) for key, value in own.items()}

    def _check(self, section: str, key: str, known: dict[str, Any], *, sections: bool = False) -> None:
        name = _plain(key)
        if name in _NEVER:
            raise ParameterError(f"{self._place(section, key)}: {key} cannot stand in a file: {_NEVER[name]}")
        if name not in known:
            names = [each.replace("_", "-") for each in known if each not in _NEVER]
            near = meant(key, [*names, *self._commands] if sections else names)
            whose = f"`assay {section}`" if section else "any command"
            there = f"; there are {', '.join(names)}" if section else "; `assay COMMAND -h` lists them"
            raise ParameterError(f"{self._place(section, key)}: {key!r} is no setting of {whose}{near}{there}")

    def _converted(self, section: str, key: str, value: Any) -> Any:
        """A value as the command line would have given it; refused where that could not be."""
        param = _known(self._context.command)[_plain(key)]
        several = bool(param.multiple if hasattr(param, "multiple") else False) or param.nargs == -1
        if several:
            if isinstance(value, dict):  # COLUMN = VALUE
                value = [f"{name}={one}" for name, each in value.items() for one in _listed(each)]
            value = [str(one) for one in _listed(value)]
        elif isinstance(value, list) and all(isinstance(one, str) for one in value):  # such as place = ["x", "y"]
            value = ",".join(value)
        wrong = isinstance(value, (dict, list)) and not several
        if getattr(param, "is_flag", False) != isinstance(value, bool):
            wrong = True
        try:
            if not wrong:
                param.process_value(self._context, value)
        except typer.Exit:  # refused in a sentence of its own
            raise
        except Exception as error:
            said = str(getattr(error, "message", error)).rstrip(".")
            raise ParameterError(f"{self._place(section, key)}: {key} = {value!r}: {said}") from None
        if wrong:
            needed = "true or false" if getattr(param, "is_flag", False) else "one value"
            raise ParameterError(f"{self._place(section, key)}: {key} takes {needed}; got {value!r}")
        return value

    def _place(self, section: str, key: str) -> str:
        """File, line and section of a setting."""
        here = ""
        for number, line in enumerate(self._text.splitlines(), 1):
            header = re.match(r"\s*\[+\s*([^\]]+?)\s*\]", line)
            if header:
                here = header[1].strip("\"'")
            if (here == section and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[=.]", line)) or (
                header and not section and here == key
            ):
                return f"{self._path}, line {number}"
        return f"{self._path}"


def _known(command: Any) -> dict[str, Any]:
    return {param.name: param for param in command.params}


def _plain(key: str) -> str:
    return key.replace("-", "_")


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
