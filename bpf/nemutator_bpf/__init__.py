"""The BPF programs: their sources, and what the recorded compiler made of them."""

from importlib import resources


def program(name: str, machine: str) -> bytes:
    """The object of program *name* for *machine* (as uname says it). Raises FileNotFoundError."""
    return (resources.files(__name__) / "objects" / f"{name}-{machine}.bpf.o").read_bytes()
