"""Processors that QEMU plays: the program, its options, and what a kernel calls the console there."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Processor:
    group: str
    """The part with QEMU for it."""
    program: str
    options: tuple[str, ...]
    console: str


PROCESSORS = {
    "amd64": Processor("machine", "qemu-system-x86_64", ("-cpu", "max"), "ttyS0"),
    "arm64": Processor(
        "machine-arm64",
        "qemu-system-aarch64",
        # Return addresses are signed there, as on new processors, by a rule that is quickly played.
        ("-machine", "virt", "-cpu", "max,pauth-impdef=on"),
        "ttyAMA0",
    ),
}
"""By the names of Debian and Go."""
