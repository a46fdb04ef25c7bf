from nemutator_common.errors import ExitCode, OperatorError
from nemutator_ctl.up.child import Child, Preferred
from nemutator_ctl.up.command_lines import Command
from nemutator_ctl.up.restarts import MOST_DEATHS, Ended

from tests.ctl.up.supervised import COMMAND, ended, killed, running, supervised
from tests.fakes.clocks import ManualClock
from tests.fakes.processes import FakeProcesses

ELSEWHERE = Command(("brain", "--console=127.0.0.1:4000"))
IN_USE = Ended(ExitCode.ADDRESS_IN_USE)


def started(processes: FakeProcesses) -> list[Command]:
    return [process.command for process in processes.children]


def preferring(child: Child, command: Command, until: ExitCode) -> list[OperatorError]:
    """Why it was given up, once it is."""
    given_up: list[OperatorError] = []
    child.prefer(Preferred(command, until, given_up.append))
    return given_up


async def test_a_preferred_command_starts_each_next_life() -> None:
    processes, clock = FakeProcesses(), ManualClock()
    child = supervised(processes, clock)
    async with running(child):
        given_up = preferring(child, ELSEWHERE, ExitCode.ADDRESS_IN_USE)
        await killed(processes, clock)
        await killed(processes, clock)
        assert started(processes) == [COMMAND, ELSEWHERE, ELSEWHERE]
        assert given_up == []


async def test_where_the_preferred_command_cannot_work_the_own_one_does() -> None:
    processes = FakeProcesses(lambda one: one.end(IN_USE) if one.command == ELSEWHERE else None)
    clock = ManualClock()
    child = supervised(processes, clock)
    async with running(child):
        given_up = preferring(child, ELSEWHERE, ExitCode.ADDRESS_IN_USE)
        await killed(processes, clock)
        assert started(processes) == [COMMAND, ELSEWHERE, COMMAND]
        assert [error.code for error in given_up] == [ExitCode.ADDRESS_IN_USE]
        assert child.problem is None


async def test_one_that_dies_as_root_goes_on_without() -> None:
    raised = Command(("sudo", *COMMAND.argv), raised=True)
    processes = FakeProcesses(lambda one: one.end(Ended(1)) if one.command.raised else None)
    clock = ManualClock()
    child = supervised(processes, clock)
    given_up = preferring(child, raised, ExitCode.CHILD_DIED)
    async with running(child):
        await clock.until_sleeping()
        await clock.advance(60.0)
        assert started(processes) == [raised] * MOST_DEATHS + [COMMAND]
        assert [error.code for error in given_up] == [ExitCode.CHILD_DIED]


async def test_any_other_failure_of_the_preferred_command_ends_it() -> None:
    processes = FakeProcesses(lambda one: one.end(Ended(ExitCode.SETTINGS)))
    child = supervised(processes, ManualClock())
    given_up = preferring(child, ELSEWHERE, ExitCode.CHILD_DIED)
    assert (await ended(child)).code is ExitCode.SETTINGS
    assert (started(processes), given_up) == ([ELSEWHERE], [])


async def test_an_address_that_was_wished_for_and_is_taken_ends_it() -> None:
    processes = FakeProcesses(lambda one: one.end(IN_USE))
    child = supervised(processes, ManualClock(), command=ELSEWHERE)
    given_up = preferring(child, ELSEWHERE, ExitCode.ADDRESS_IN_USE)
    assert (await ended(child)).code is ExitCode.ADDRESS_IN_USE
    assert (started(processes), given_up) == ([ELSEWHERE], [])
