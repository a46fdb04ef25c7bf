"""Where threads were blocked, once their stacks have names: without threads of Go that had no work."""

from nemutator_common.profiles.model import Frame, Profile, Stack, Weighed, merged

IDLE = frozenset(
    {
        "runtime.findRunnable",
        "runtime.findrunnable",
        "runtime.stopm",
        "runtime.stoplockedm",
        "runtime.sysmon",
        "runtime.templateThread",
        "os/signal.signal_recv",
    }
)
"""Where threads of Go wait for goroutines that could run, for time to pass, or for signals. No
goroutine of the program waits for them."""

_SWITCH = "schedule"
"""Most waits end in it; what has called it says why."""


def blocked(profile: Profile) -> Weighed:
    """*profile*, whose samples are nanoseconds, as such time."""
    frames = profile.frames
    idle = {
        number for number, one in enumerate(frames) if one.kind == "go" and one.function in IDLE
    }
    waits = [(stack, time) for stack, time in profile.stacks if idle.isdisjoint(stack)]
    left_out = sum(time for _, time in profile.stacks) - sum(time for _, time in waits)
    idle_s = left_out / profile.hz
    said = f"{idle_s:.1f} s in which threads of Go had no goroutine to run are left out"
    return Weighed(
        frames=frames,
        stacks=merged((_without_switch(stack, frames), time) for stack, time in waits),
        unit="nanoseconds",
        started_at=profile.started_at,
        notes=(said, *profile.notes) if left_out else profile.notes,
        labels=profile.labels,
    )


def _without_switch(stack: Stack, frames: tuple[Frame, ...]) -> Stack:
    """*stack* without what the kernel and our program do on their way off the CPU."""
    for at, number in enumerate(stack):
        if frames[number].kind != "kernel":
            break
        if frames[number].function == _SWITCH:
            return stack[at + 1 :]
    return stack
