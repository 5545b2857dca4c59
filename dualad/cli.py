"""The command `dualad`: `dualad sens MODEL` prints a model's sensitivities and draws them.

Exit codes: 0 done, 1 the model failed, 2 the command was not usable as it was given, 3 a check
failed. The commands of `sens` are in `sensitivity.commands`; `dualad verify` is in
`verify.command`, with exit codes of its own.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from .errors import DualADError, MissingExtraError
from .sensitivity.commands.grammar import MORE_WORDS, add_parsers as add_sens
from .verify.command import add_parser as add_verify
from .version import __version__

__all__ = ["main"]

DONE, MODEL_FAILED, USAGE, CHECK_FAILED, INTERRUPTED = 0, 1, 2, 3, 130


def parser() -> argparse.ArgumentParser:
    """The grammar of the command line."""
    top = argparse.ArgumentParser(
        prog="dualad", description="Exact derivatives of models written in plain NumPy."
    )
    top.add_argument("--version", action="version", version=f"dualad {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    add_sens(commands)
    add_verify(commands)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; gives its exit code."""
    args = parser().parse_args(words(sys.argv[1:] if argv is None else argv))
    try:
        return args.run(args)
    except BrokenPipeError:
        # The reader has seen enough (`| head`): nothing more may be written, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except KeyboardInterrupt:
        print("dualad: interrupted", file=sys.stderr)
        return INTERRUPTED
    except DualADError as error:
        print(f"dualad: {error}", file=sys.stderr)
        return code_of(error)


def code_of(error: DualADError) -> int:
    """By whose doing: that of the model, or of the command."""
    from .sensitivity import (
        CheckError,
        EventError,
        ModelError,
        NotIdentifiableError,
        SensitivityError,
    )

    if isinstance(error, CheckError):
        return CHECK_FAILED
    if isinstance(error, (ModelError, EventError, NotIdentifiableError)):
        return MODEL_FAILED
    unusable = isinstance(error, (SensitivityError, MissingExtraError))
    return USAGE if unusable else MODEL_FAILED


def words(argv: Sequence[str]) -> list[str]:
    """The arguments, the two words of `sens ensemble` and its kin taken as one command."""
    given = list(argv)
    if given[:1] == ["sens"] and len(given) > 1 and given[1] in MORE_WORDS:
        return [" ".join(given[:2]), *given[2:]]
    return given


if __name__ == "__main__":
    sys.exit(main())
