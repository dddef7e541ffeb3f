"""Completion in shells: a script with every command, option and choice in it, so that a key press starts no Python."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

import typer

from assay.cli.app import app, command
from assay.cli.options import COMPARED, Debug
from assay.cli.terminal import explained

Shell = Literal["bash", "zsh", "fish"]
Which = Annotated[Shell, typer.Argument(help="The shell the script is for.", show_default=False)]


@command("assay completion bash > ~/.local/share/bash-completion/completions/assay")
def completion(shell: Which, debug: Debug = False) -> None:
    """Print a script by which a shell completes commands.

    bash: assay completion bash > ~/.local/share/bash-completion/completions/assay;
    zsh: assay completion zsh > a folder of $fpath, as _assay; fish: assay completion fish >
    ~/.config/fish/completions/assay.fish. Print it again after an update.
    """
    from typer.main import get_command

    with explained(debug):
        group: Any = get_command(app)
        known = {name: _options(name, each) for name, each in group.commands.items() if not each.hidden}
        helps = {name: (each.get_short_help_str(60) or "").rstrip(".") for name, each in group.commands.items()}
        print("\n".join({"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](known, helps)))


@dataclass(frozen=True, slots=True)
class _Option:
    """What can follow an option.

    Attributes:
        choices: words, one of which follows; empty where a file, a name or nothing does.
        alone: whether nothing follows.
    """

    choices: tuple[str, ...] = ()
    alone: bool = False


_Known: TypeAlias = dict[str, dict[str, _Option]]


def _options(command: str, each: Any) -> dict[str, _Option]:
    told = {"--help": _Option(alone=True), "-h": _Option(alone=True)}
    for param in each.params:
        for option in (*param.opts, *getattr(param, "secondary_opts", ())):
            if option.startswith("-"):
                told[option] = _Option(_choices(command, option, param), bool(getattr(param, "is_flag", False)))
    return told


def _choices(command: str, option: str, param: Any) -> tuple[str, ...]:
    from assay.asking.found import found
    from assay.models.row_maps import METHODS

    if option in ("--only", "--skip"):
        return COMPARED if command == "compare" else tuple(question.name for question in found().questions)
    if option == "--map-method":
        return tuple(METHODS)
    described = getattr(param, "type_descriptor", None) or getattr(param, "type", None)
    return tuple(str(choice) for choice in getattr(described, "choices", None) or ())


def _bash(known: _Known, helps: dict[str, str]) -> Iterator[str]:
    yield "_assay() {"
    yield '  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" command="${COMP_WORDS[1]}"'
    yield "  COMPREPLY=()"
    yield '  if [ "$COMP_CWORD" -eq 1 ]; then'
    yield f'    COMPREPLY=($(compgen -W "{" ".join(known)} --help --version" -- "$word")); return'
    yield "  fi"
    yield '  case "$command $before" in'
    for name, options in known.items():
        for option, one in options.items():
            if one.choices:
                words = " ".join(one.choices)
                yield f'    "{name} {option}") COMPREPLY=($(compgen -W "{words}" -- "$word")); return ;;'
    yield "  esac"
    yield '  if [[ "$word" == -* ]]; then'
    yield '    case "$command" in'
    for name, options in known.items():
        yield f'      {name}) COMPREPLY=($(compgen -W "{" ".join(options)}" -- "$word")); return ;;'
    yield "    esac"
    yield "  fi"
    yield "}"
    yield "complete -o default -F _assay assay"


def _zsh(known: _Known, helps: dict[str, str]) -> Iterator[str]:
    yield "#compdef assay"
    yield "_assay() {"
    yield "  if (( CURRENT == 2 )); then"
    yield "    local -a commands=("
    for name in known:
        said = helps[name].replace("'", "").replace(":", ",")
        yield f"      '{name}:{said}'"
    yield "    )"
    yield "    _describe command commands; return"
    yield "  fi"
    yield '  case "${words[2]} ${words[CURRENT-1]}" in'
    for name, options in known.items():
        for option, one in options.items():
            if one.choices:
                yield f"    '{name} {option}') compadd -- {' '.join(one.choices)}; return ;;"
    yield "  esac"
    yield '  if [[ "${words[CURRENT]}" == -* ]]; then'
    yield '    case "${words[2]}" in'
    for name, options in known.items():
        yield f"      {name}) compadd -- {' '.join(options)}; return ;;"
    yield "    esac"
    yield "  fi"
    yield "  _files"
    yield "}"
    yield 'if [ "$funcstack[1]" = "_assay" ]; then _assay "$@"; else compdef _assay assay; fi'


def _fish(known: _Known, helps: dict[str, str]) -> Iterator[str]:
    for name, options in known.items():
        said = helps[name].replace("'", "")
        yield f"complete -c assay -n __fish_use_subcommand -a {name} -d '{said}'"
        for option, one in options.items():
            flag = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
            after = f" -x -a '{' '.join(one.choices)}'" if one.choices else "" if one.alone else " -r"
            yield f"complete -c assay -n '__fish_seen_subcommand_from {name}' {flag}{after}"
