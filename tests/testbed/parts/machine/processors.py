"""Processors that QEMU plays: the program, its options, and what a kernel calls the console there."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Processor:
    group: str
    """The part with QEMU for it."""
    program: str
    options: tuple[str, ...]
    console: str


DEAR = (
    *("la57", "pcid", "invpcid", "smap", "smep", "umip", "pku"),
    *("avx", "avx2", "fma", "f16c", "xsave", "xsaveopt", "xsavec", "mpx"),
)
"""What an emulated CPU had better not have: page tables of a fifth level, wide registers that the C library would copy
memory by and that each switch of tasks would save, protections. Without it a boot takes 43 s of CPU time, not 54."""

PROCESSORS = {
    "amd64": Processor(
        "machine",
        "qemu-system-x86_64",
        ("-cpu", ",-".join(("max", *DEAR))),
        "ttyS0",
    ),
    "arm64": Processor(
        "machine-arm64",
        "qemu-system-aarch64",
        # Return addresses are signed there, as on new processors, by a rule that is quickly played.
        ("-machine", "virt", "-cpu", "max,pauth-impdef=on"),
        "ttyAMA0",
    ),
}
"""By the names of Debian and Go."""
