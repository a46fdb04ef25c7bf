"""What systemd says about a unit, as `systemctl show` writes it."""

from dataclasses import dataclass

PROPERTIES = (
    "Id",
    "LoadState",
    "Transient",
    "Slice",
    "ControlGroup",
    "CPUWeight",
    "MemoryHigh",
    "MemoryMax",
    "DropInPaths",
)

_KNOWN = frozenset({"loaded", "bad-setting"})
"""Values of LoadState with which a unit is there; a masked one cannot run."""

_NOTHING = frozenset({"", "infinity", "[not set]", str(2**64 - 1)})


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitState:
    name: str
    """Its own one: what was asked for may be an alias."""
    namespace: str
    """The first element of its control group's path, as everywhere off clusters."""
    is_transient: bool
    """It was made by a call, and no file of it outlives it."""
    cpu_weight: int | None
    """None: it was not set, and counts as 100."""
    memory_high: int | None
    """None: it has none."""
    memory_max: int | None
    is_idle: bool = False
    """`CPUWeight=idle`: it runs while nobody else wants the CPU."""
    drop_ins: tuple[str, ...] = ()
    """Their files, in the order in which they count: the last one wins."""


def state_of(text: str) -> UnitState | None:
    """The state of the unit in *text*; None: there is no such unit."""
    said = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    if said.get("LoadState") not in _KNOWN or not said.get("Id"):
        return None
    return UnitState(
        name=said["Id"],
        namespace=_namespace(said.get("ControlGroup", ""), said.get("Slice", ""), said["Id"]),
        is_transient=said.get("Transient") == "yes",
        cpu_weight=_number(said.get("CPUWeight", "")),
        is_idle=said.get("CPUWeight") == "idle",
        memory_high=_number(said.get("MemoryHigh", "")),
        memory_max=_number(said.get("MemoryMax", "")),
        drop_ins=tuple(said.get("DropInPaths", "").split()),
    )


def _namespace(group: str, slice_: str, name: str) -> str:
    """Of a unit that does not run, where it will be: `system-getty.slice` lies in `system.slice`."""
    first = group.strip("/").split("/")[0]
    if first:
        return first
    outermost = slice_.removesuffix(".slice").split("-")[0]
    return f"{outermost}.slice" if outermost else name


def _number(text: str) -> int | None:
    if text in _NOTHING or len(text) > 20 or not (text.isascii() and text.isdecimal()):
        return None
    return int(text)
