"""What people should know of the names in a profile, in sentences."""

from collections.abc import Collection, Mapping

_OF_A_FILE = {
    "go_too_old": (
        "{file} was built by a Go older than 1.18, whose tables are not read: build it with 1.18 or"
        " newer"
    ),
    "go_damaged": "the tables of Go in {file} are damaged: its functions have no names",
    "no_inlines": "in {file} calls that the compiler inlined cannot be told from their callers",
    "too_much": "{file} took more effort than one profile may cost: some of it has no names",
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
}


def sentences(
    notes: Mapping[str, Collection[str]], *, gone: int, unnamed: tuple[int, int]
) -> tuple[str, ...]:
    """*notes* by the name of a file; *unnamed* is how many places of how many."""
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
        lines.append(f"{without} of {places} places have no name")
    return tuple(lines)
