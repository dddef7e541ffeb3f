"""Completion in shells: a script with every command, option and choice in it, so that a key press starts no Python."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import typer

from assay.cli.app import app, command
from assay.cli.options import Debug
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
        known = {name: _options(each) for name, each in group.commands.items() if not each.hidden}
        helps = {name: (each.get_short_help_str(60) or "").rstrip(".") for name, each in group.commands.items()}
        print("\n".join({"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](known, helps)))


def _options(each: Any) -> dict[str, tuple[str, ...]]:
    """By option, the words it can be followed by; none where a file, a name or nothing follows."""
    from assay.asking.found import found

    names = tuple(question.name for question in found().questions)
    told: dict[str, tuple[str, ...]] = {"--help": (), "-h": ()}
    for param in each.params:
        for option in (*param.opts, *getattr(param, "secondary_opts", ())):
            if option.startswith("-"):
                told[option] = names if option in ("--only", "--skip") else _choices(param)
    return told


def _choices(param: Any) -> tuple[str, ...]:
    described = getattr(param, "type_descriptor", None) or getattr(param, "type", None)
    return tuple(str(choice) for choice in getattr(described, "choices", None) or ())


def _bash(known: dict[str, dict[str, tuple[str, ...]]], helps: dict[str, str]) -> Iterator[str]:
    yield "_assay() {"
    yield '  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" command="${COMP_WORDS[1]}"'
    yield "  COMPREPLY=()"
    yield '  if [ "$COMP_CWORD" -eq 1 ]; then'
    yield f'    COMPREPLY=($(compgen -W "{" ".join(known)} --help --version" -- "$word")); return'
    yield "  fi"
    yield '  case "$command $before" in'
    for name, options in known.items():
        for option, choices in options.items():
            if choices:
                yield f'    "{name} {option}") COMPREPLY=($(compgen -W "{" ".join(choices)}" -- "$word")); return ;;'
    yield "  esac"
    yield '  if [[ "$word" == -* ]]; then'
    yield '    case "$command" in'
    for name, options in known.items():
        yield f'      {name}) COMPREPLY=($(compgen -W "{" ".join(options)}" -- "$word")); return ;;'
    yield "    esac"
    yield "  fi"
    yield "}"
    yield "complete -o default -F _assay assay"


def _zsh(known: dict[str, dict[str, tuple[str, ...]]], helps: dict[str, str]) -> Iterator[str]:
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
        for option, choices in options.items():
            if choices:
                yield f"    '{name} {option}') compadd -- {' '.join(choices)}; return ;;"
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


def _fish(known: dict[str, dict[str, tuple[str, ...]]], helps: dict[str, str]) -> Iterator[str]:
    for name, options in known.items():
        said = helps[name].replace("'", "")
        yield f"complete -c assay -n __fish_use_subcommand -a {name} -d '{said}'"
        for option, choices in options.items():
            flag = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
            after = f" -x -a '{' '.join(choices)}'" if choices else ""
            yield f"complete -c assay -n '__fish_seen_subcommand_from {name}' {flag}{after}"
