"""The BPF programs: their sources, and what the recorded compiler made of them."""

from importlib import resources


def program(name: str, machine: str) -> bytes | None:
    """The object of program *name* for *machine* (as uname says it); None when there is none."""
    file = resources.files(__name__) / "objects" / f"{name}-{machine}.bpf.o"
    return file.read_bytes() if file.is_file() else None
