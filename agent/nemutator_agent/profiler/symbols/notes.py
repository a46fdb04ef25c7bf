"""What people should know of the names in a profile, in sentences."""

from collections.abc import Collection, Mapping
from types import MappingProxyType

_OF_A_FILE = {
    "go_too_old": (
        "{file} was built by a Go older than 1.18, whose tables are not read: build it with 1.18 or"
        " newer"
    ),
    "go_damaged": "the tables of Go in {file} are damaged: its functions have no names",
    "no_inlines": "in {file} calls that the compiler inlined cannot be told from their callers",
    "too_much": "{file} took more effort than one profile may cost: some of it has no names",
    "cut": "{file} is very long: of the names in it the oldest were not read",
    "unseen": (
        "{file} names code that no stack shows: an interpreter without frame pointers hides what it runs"
        " (Python: one that is built with -fno-omit-frame-pointer shows it)"
    ),
    "no_elf": "{file} is not an executable that can be read",
    "hidden": (
        "the kernel shows no addresses of its functions: sysctl kernel.kptr_restrict=1, and run as"
        " root"
    ),
    "closed": (
        "{file} may not be opened: run the agent as root, or with CAP_SYS_PTRACE and"
        " CAP_CHECKPOINT_RESTORE"
    ),
    "stuck": "{file} lies on a file system that does not answer: it has no names",
    "late": (
        "symbols of {file} were not read in time, some functions have no names: profile again, what"
        " was read is kept"
    ),
    "too_many": "{file} has more places than are looked up: the rest has no names",
    "failed": "reading {file} failed: it has no names",
    "unconfined": (
        "{file} was not read: the process that reads strangers' files could not give up its rights"
        " (nemutator doctor says why)"
    ),
}


_MOST_FILES = 6


def sentences(
    notes: Mapping[str, Collection[str]],
    *,
    gone: int,
    unnamed: tuple[int, int],
    by_file: Mapping[str, tuple[int, int]] = MappingProxyType({}),
) -> tuple[str, ...]:
    """*notes* by the name of a file; *unnamed* is how many places of how many; *by_file* says for
    files of processes how many places have no name, and how often samples had them."""
    lines = [
        _OF_A_FILE[note].format(file=file)
        for file in sorted(notes)
        for note in _OF_A_FILE
        if note in notes[file]
    ]
    if gone:
        processes = "1 process" if gone == 1 else f"{gone} processes"
        lines.append(
            f"{processes} had ended, or run another program, before names were looked up: "
            "frames are [gone]"
        )
    without, places = unnamed
    if without:
        where = f": {_files(by_file)}" if by_file else ""
        lines.append(f"{without} of {places} places have no name{where}")
    return tuple(lines)


def _files(places: Mapping[str, tuple[int, int]]) -> str:
    """What was seen most comes first."""
    files = sorted(places.items(), key=lambda one: (-one[1][1], one[0]))
    shown = [f"{count} in {file} ({_seen(seen)})" for file, (count, seen) in files[:_MOST_FILES]]
    if rest := files[_MOST_FILES:]:
        count, seen = (sum(one[1][which] for one in rest) for which in (0, 1))
        shown.append(f"{count} in {len(rest)} more files ({_seen(seen)})")
    return ", ".join(shown)


def _seen(times: int) -> str:
    return "seen once" if times == 1 else f"seen {times} times"
