"""Runtimes that give each pod a kernel of its own: what connects to a socket there, ours never sees."""

import re

from nemutator_common import names

_SANDBOXES = (
    ("Kata Containers", re.compile(r"kata([-_.].*)?")),
    ("gVisor", re.compile(r"(runsc|gvisor)([-_.].*)?")),
)
"""By the handlers that their own installers configure: `kata`, `kata-qemu`, `kata-clh`; `runsc`, `gvisor`."""


def why_not_in(runtime_class: str, handler: str | None) -> str:
    """Why a pod of this class cannot be served; empty: it can.

    The *handler* of the class decides; None: it is not known, and the name of the class has to do.
    """
    decides = runtime_class if handler is None else handler
    for sandbox, pattern in _SANDBOXES:
        if pattern.fullmatch(decides):
            of = "" if handler is None else f", whose handler is {handler[:63]!r},"
            return (
                f"runtimeClassName {runtime_class[:63]!r}{of} is {sandbox}: its pods have a kernel of their "
                "own, and no process of theirs can be attested by this node's. Take that class away, or "
                f"{names.INJECT} and the declarations, and let the pod log in to Vault by itself"
            )
    return ""
