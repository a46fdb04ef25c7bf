"""The BPF programs: their sources, and what the recorded compiler made of them."""

from collections.abc import Mapping
from importlib import resources


def program(name: str, machine: str) -> bytes:
    """The object of program *name* for *machine* (as uname says it). Raises FileNotFoundError."""
    return (resources.files(__name__) / "objects" / f"{name}-{machine}.bpf.o").read_bytes()


def sources() -> Mapping[str, str]:
    """The programs' C, by the names of its files."""
    return {
        file.name: file.read_text()
        for file in resources.files(__name__).iterdir()
        if file.name.endswith((".c", ".h"))
    }
