"""`nemutator`: finds the command and imports only what that one needs.

Answering `version` and `--help` in a moment is a promise (tests/bench/cli_start.py holds it), so
everything heavier than the vocabulary of errors is imported by the command that uses it.
"""

import errno
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module

from nemutator_common import __version__
from nemutator_common.errors import ExitCode, OperatorError

from nemutator_ctl.leading_options import behind

COMMANDS = {
    "up": ("nemutator_ctl.up.command", "run everything that nemutator needs on this machine"),
    "topology": ("nemutator_ctl.topology.command", "show what runs here, and what it uses"),
    "nodes": ("nemutator_ctl.node_list.command", "show what nodes can take, and what is taken"),
    "workloads": (
        "nemutator_ctl.workloads.command",
        "show what workloads request, use and waste",
    ),
    "clusters": ("nemutator_ctl.clusters.command", "show several clusters, and their totals"),
    "top": ("nemutator_ctl.top.command", "show what uses most now"),
    "profile": ("nemutator_ctl.profiles.command", "find out where CPU time goes"),
    "flame": ("nemutator_ctl.flame.command", "show profiles from files, several as one"),
    "diff": ("nemutator_ctl.diff.command", "compare two profiles from files"),
    "pgo": ("nemutator_ctl.pgo.command", "merge CPU profiles for the Go compiler"),
    "advise": ("nemutator_ctl.advise.command", "say what containers should request"),
    "seasons": (
        "nemutator_ctl.seasons.command",
        "show when workloads are busy, and what follows that",
    ),
    "size": ("nemutator_ctl.size.command", "give a unit of systemd what is advised"),
    "sizing": ("nemutator_ctl.sizing.command", "show what SizingPolicies make of running pods"),
    "import": ("nemutator_ctl.imports.command", "turn VPA objects into SizingPolicies"),
    "explain": ("nemutator_ctl.explain.command", "say how the advice on a workload comes about"),
    "history": ("nemutator_ctl.history.command", "show what a workload used, and its usual week"),
    "replay": ("nemutator_ctl.replay.command", "try ways to size on use that was recorded"),
    "place": ("nemutator_ctl.place.command", "say which nodes suit a pod, and why"),
    "packing": (
        "nemutator_ctl.packing.command",
        "say which nodes could be emptied, and why the others not",
    ),
    "oversell": (
        "nemutator_ctl.oversell.command",
        "say how much CPU of nodes is oversold or could be, and why no more",
    ),
    "buffers": ("nemutator_ctl.buffers.command", "say how much room is kept free, and why"),
    "scalers": (
        "nemutator_ctl.scalers.command",
        "say which minimums of autoscalers forecasts raise, and why",
    ),
    "neighbours": (
        "nemutator_ctl.neighbours.command",
        "say which pods suffer when which others are busy",
    ),
    "ageing": ("nemutator_ctl.ageing.command", "say what grows with age, and in which line"),
    "doctor": ("nemutator_ctl.doctor.command", "say what this machine lacks, and why it counts"),
    "report": ("nemutator_ctl.report.command", "pack what whoever helps must see, without secrets"),
    "backup": ("nemutator_ctl.backup.command", "write what a brain knows into one archive"),
    "restore": ("nemutator_ctl.backup.restore", "make a data directory of such an archive"),
    "apply": ("nemutator_ctl.apply.command", "apply policies and manifests, without a cluster"),
    "delete": ("nemutator_ctl.delete.command", "delete what was applied, without a cluster"),
    "mutations": (
        "nemutator_ctl.mutations.command",
        "show what was changed, and what became of it",
    ),
    "grants": (
        "nemutator_ctl.grants.command",
        "show who was given which secret, and who read a path",
    ),
    "evict": ("nemutator_ctl.evict.command", "evict pods, a few at a time, and say why"),
    "missed": ("nemutator_ctl.missed.command", "show pods that admission has missed"),
    "roll": ("nemutator_ctl.roll.command", "roll a workload slowly, one pod at a time"),
    "tombstones": (
        "nemutator_ctl.tombstones.command",
        "show what stays taken back, and forget it",
    ),
    "rollback": ("nemutator_ctl.rollback.command", "take a mutation back"),
    "policy": ("nemutator_ctl.policy.command", "try policies on manifests, without a server"),
    "token": ("nemutator_ctl.tokens.command", "show and change the values of placeholders"),
    "secret": (
        "nemutator_ctl.secret.command",
        "keep secrets of this machine, for whom rules name",
    ),
    "exec": ("nemutator_ctl.exec.command", "run a command with secrets in its environment"),
    "completion": ("nemutator_ctl.completion.command", "teach a shell to complete all this"),
    "install": (
        "nemutator_ctl.installation.command",
        "install in a cluster what the Helm chart installs",
    ),
    "uninstall": ("nemutator_ctl.installation.uninstall", "take that out of the cluster again"),
    "link": ("nemutator_ctl.link", "print a link that opens the console once"),
    "version": ("nemutator_ctl.version", "print the version"),
}
"""Name → where its `main(argv)` lives, and what it is for."""

WATCHED = frozenset(
    [
        "nodes",
        "workloads",
        "clusters",
        "buffers",
        "oversell",
        "seasons",
        "sizing",
        "scalers",
        "neighbours",
        "ageing",
        "mutations",
        "grants",
        "missed",
    ]
)
"""Lists of what changes by itself."""
WATCH = frozenset({"-w", "--watch"})
KUBECTL_VERBS = frozenset({"describe", "get"})
"""What hands that know kubectl type first."""

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
ROOM = "remedy: write it to where there is room"

COMPLETE = "__complete"
"""Asked by the scripts of `nemutator completion`."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command, and return the exit code of the process."""
    _open_output()
    try:
        code = _dispatch(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of our output has seen enough.
        _write_no_more()
        return ExitCode.OK
    except OperatorError as error:
        sys.stderr.write(f"nemutator: {error}\n")
        return error.code
    except KeyboardInterrupt:
        # Die of it like every other program, so that a shell's loop around us ends as well.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
        return ExitCode.INTERNAL
    except Exception as error:  # noqa: BLE001 - a defect has an exit code of its own
        if isinstance(error, OSError) and error.errno in NO_ROOM and error.filename is None:
            _write_no_more()
            sys.stderr.write(f"nemutator: standard output: {error.strerror}\n  {ROOM}\n")
            return ExitCode.NO_SPACE
        sys.excepthook(*sys.exc_info())
        return ExitCode.INTERNAL
    return code


def _open_output() -> None:
    """In place of what somebody has closed (`>&-`): else the first file that is opened becomes standard output."""
    for number, name in ((1, "stdout"), (2, "stderr")):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_WRONLY)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            setattr(sys, name, os.fdopen(number, "w"))


def _write_no_more() -> None:
    """Python would complain once more at its exit of what it still has to write."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def kubectl_plugin() -> int:
    """`kubectl nemutator …`: the cluster that kubectl speaks to, unless somebody says otherwise."""
    os.environ.setdefault("NEMUTATOR_CTL_CONTEXT", "")
    return main()


def _dispatch(argv: Sequence[str]) -> int:
    if argv and argv[0] == COMPLETE:
        from nemutator_ctl.completion.command import complete

        return complete(argv[1:], COMMANDS)
    argv = behind(argv)
    word = argv[0] if argv else "help"
    if word in COMMANDS:
        module, _ = COMMANDS[word]
        command = import_module(module).main
        if word in WATCHED and not WATCH.isdisjoint(argv):
            return _watched(command, argv[1:])
        code: int = command(argv[1:])
        return code
    if word == "--version":
        sys.stdout.write(f"nemutator {__version__}\n")
    elif word in ("help", "--help", "-h"):
        sys.stdout.write(_help())
    else:
        raise _unknown(word)
    return ExitCode.OK


class _Terminal:
    """Standard output, once more every two seconds."""

    def __init__(self) -> None:
        self.is_screen = sys.stdout.isatty()

    def write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    def complain(self, text: str) -> None:
        sys.stderr.write(text)

    def wait(self, seconds: float) -> bool:
        time.sleep(seconds)
        return True


def _watched(command: Callable[[Sequence[str]], int], argv: Sequence[str]) -> int:
    from nemutator_ctl.repeated_list import split, watch

    watches, rest = split(argv, WATCH)
    return watch(command, rest, _Terminal()) if watches else command(rest)


def _help() -> str:
    commands = "\n".join(f"  {name:<12}{summary}" for name, (_, summary) in COMMANDS.items())
    codes = "\n".join(f"  {code.value:<4}{code.meaning}" for code in ExitCode)
    return (
        "nemutator: credentials, profiles, mutation and placement for the nodes of a cluster.\n\n"
        "usage: nemutator COMMAND [OPTIONS]\n\n"
        f"commands:\n{commands}\n\n"
        "`nemutator COMMAND --help` lists the options of one.\n\n"
        "which nemutator is asked:\n"
        "  --data-dir DIR                      this machine's (the default)\n"
        "  --context NAME, --kubeconfig FILE   a cluster's, through its API server\n"
        "  --brain URL                         a cluster's, at an address of its own\n"
        "  (`kubectl nemutator COMMAND` asks the cluster that kubectl speaks to)\n\n"
        f"exit codes:\n{codes}\n"
    )


def _unknown(word: str) -> OperatorError:
    import difflib

    if word in KUBECTL_VERBS:
        return OperatorError(
            f"there is no command {word!r} here",
            remedy="what is to be seen is the command itself: `nemutator nodes`, `nemutator mutations`",
            code=ExitCode.USAGE,
        )
    near = difflib.get_close_matches(word, COMMANDS, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    kind = "option" if word.startswith("-") else "command"
    return OperatorError(
        f"there is no {kind} {word!r} here{hint}",
        remedy="a command comes first, its options after it; `nemutator --help` lists the commands",
        code=ExitCode.USAGE,
    )


if __name__ == "__main__":
    sys.exit(main())
