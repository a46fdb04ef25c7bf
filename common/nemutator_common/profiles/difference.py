"""What two profiles differ in, stack by stack: nothing of either is left out."""

from dataclasses import dataclass

from nemutator_common.profiles.heap import HeapProfile
from nemutator_common.profiles.model import Frame, FrameKind, FrameTable, Profile, Stack, Weighed
from nemutator_common.profiles.sums import AnyProfile, NotAlikeError, unit_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    frames: tuple[Frame, ...]
    rows: tuple[tuple[Stack, int, int], ...]
    """Each stack, with its weight before and after. Stacks are equal whose functions are: lines and
    addresses move from one build to the next."""
    unit: str
    scale: float = 1.0
    """By what the weights before were multiplied, so that both stand for the same length."""
    scaled_to: str = ""
    """Why, as part of a sentence; empty when nothing was scaled."""

    @property
    def stacks(self) -> tuple[tuple[Stack, int], ...]:
        """A graph gives each stack the room of both, so that what is gone can be seen as well."""
        return tuple((stack, before + after) for stack, before, after in self.rows)

    @property
    def before(self) -> int:
        return sum(before for _, before, _ in self.rows)

    @property
    def after(self) -> int:
        return sum(after for _, _, after in self.rows)


@dataclass(frozen=True, slots=True)
class FunctionChange:
    """How one function differs."""

    function: str
    kind: FrameKind
    own_before: int
    own_after: int
    before: int
    """With what it called; recursion counts once."""
    after: int

    @property
    def growth(self) -> int:
        return self.own_after - self.own_before


def difference(before: AnyProfile, after: AnyProfile) -> Difference:
    """From *before* to *after*. Raises NotAlikeError when they do not count the same.

    CPU profiles are compared by the time that they took: what uses twice the CPU is twice as large.
    Heaps are compared as they are. What says nothing of its length is compared by shares.
    """
    unit = unit_of(before)
    if type(before) is not type(after) or unit_of(after) != unit:
        raise NotAlikeError(f"one counts {_counted(before)}, and the other {_counted(after)}")
    scale, why = _scale(before, after)
    table = FrameTable()
    shown: dict[int, Frame] = {}
    both: dict[Stack, list[int]] = {}
    for place, profile, by in ((0, before, scale), (1, after, 1.0)):
        numbers = [table.number(_lasting(frame)) for frame in profile.frames]
        shown |= zip(numbers, profile.frames, strict=True)
        for stack, weight in profile.stacks:
            key = tuple(numbers[number] for number in stack)
            both.setdefault(key, [0, 0])[place] += round(weight * by)
    rows = tuple((stack, old, new) for stack, (old, new) in both.items() if old or new)
    frames = tuple(shown[number] for number in range(len(shown)))
    if scale == 1.0:
        why = ""
    return Difference(frames=frames, rows=rows, unit=unit, scale=scale, scaled_to=why)


def changes(difference: Difference) -> tuple[FunctionChange, ...]:
    """All functions whose own weight or whole weight differs, those that grew most first."""
    keys = [(frame.function, frame.kind) for frame in difference.frames]
    sums: dict[tuple[str, FrameKind], list[int]] = {}
    for stack, before, after in difference.rows:
        for key in {keys[number] for number in stack}:
            total = sums.setdefault(key, [0, 0, 0, 0])
            total[2] += before
            total[3] += after
        if stack:
            own = sums[keys[stack[0]]]
            own[0] += before
            own[1] += after
    found = (FunctionChange(*key, *numbers) for key, numbers in sums.items())
    changed = (one for one in found if one.growth or one.before != one.after)
    return tuple(
        sorted(changed, key=lambda one: (-one.growth, one.before - one.after, one.function))
    )


def _counted(profile: AnyProfile) -> str:
    match profile:
        case Profile():
            return "CPU time"
        case HeapProfile():
            return "memory in use"
        case Weighed():
            return f"{profile.unit} of stacks"


def _scale(before: AnyProfile, after: AnyProfile) -> tuple[float, str]:
    if isinstance(before, Profile) and isinstance(after, Profile):
        old, new = before.hz * before.seconds, after.hz * after.seconds
        if old > 0 and new > 0:
            return new / old, "the length and rate of the second"
    elif isinstance(before, HeapProfile):
        return 1.0, ""
    old_sum, new_sum = _weight(before), _weight(after)
    return (new_sum / old_sum, "the sum of the second") if old_sum and new_sum else (1.0, "")


def _weight(profile: AnyProfile) -> int:
    return sum(weight for _, weight in profile.stacks)


def _lasting(frame: Frame) -> Frame:
    return Frame(frame.function, frame.file, kind=frame.kind, inlined=frame.inlined)
