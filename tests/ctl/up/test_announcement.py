import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from nemutator_ctl.nodes import Fact
from nemutator_ctl.up.announcement import (
    LATER_STEP_S,
    ChildStatus,
    StartAnnouncer,
    announcement,
    waiting,
)
from nemutator_ctl.up.child import PATIENCE_S, STEP_S, Child
from nemutator_ctl.up.command_lines import Command, Typed

from tests.fakes.clocks import ManualClock
from tests.fakes.processes import FakeProcesses


def text(
    *,
    data_dir: str = "/data",
    named: bool = True,
    children: tuple[ChildStatus, ...] = (),
    missing: tuple[Fact, ...] = (),
    link: str | None = "http://127.0.0.1:8420/open?key=x",
) -> str:
    return announcement(
        Typed("nemutator", Path(data_dir), named),
        version="0.1.0",
        children=children,
        missing=missing,
        link=link,
    )


def test_each_process_stands_with_its_pid_and_its_state() -> None:
    lines = text(
        children=(
            ChildStatus("brain", 7, "", None),
            ChildStatus("observe", None, "as root", "it does not answer yet"),
        )
    ).splitlines()
    assert "  brain        pid 7         ready" in lines
    assert "  observe                    not ready: it does not answer yet" in lines


def test_a_note_stands_behind_the_state() -> None:
    assert "ready, as root" in text(children=(ChildStatus("observe", 7, "as root", None),))


def test_each_missing_fact_stands_with_its_remedy() -> None:
    shown = text(missing=(Fact("stacks", "no BPF", "run as root"),))
    assert "    stacks: no BPF\n      remedy: run as root\n" in shown


def test_the_commands_can_be_copied_whatever_the_directory_is_called() -> None:
    assert "nemutator topology --data-dir '/a b'" in text(data_dir="/a b")
    assert "--data-dir" not in text(named=False)


def test_without_a_link_it_says_how_to_get_one() -> None:
    assert "`nemutator link` prints a link once" in text(named=False, link=None)


@given(st.text(), st.text())
def test_what_strangers_say_cannot_draw_on_the_terminal(said: str, problem: str) -> None:
    shown = text(
        children=(ChildStatus("brain", 1, said, problem or None),),
        missing=(Fact(said, problem, said),),
    )
    assert all(line.isprintable() for line in shown.split("\n"))


NO_BPF = Fact("stacks", "not root", "use sudo")
Told = tuple[list[str], list[str], str | None]


@dataclass
class Scene:
    clock: ManualClock = field(default_factory=ManualClock)
    moved: asyncio.Event = field(default_factory=asyncio.Event)
    report: Sequence[Fact] | None = None
    told: list[Told] = field(default_factory=list)
    waited: list[list[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        processes = FakeProcesses()
        self.children = [
            Child(
                name=name,
                command=Command((name,)),
                processes=processes,
                health=processes,
                clock=self.clock,
                roll=lambda: 0.0,
                drain_s=0.5,
            )
            for name in ("brain", "observe")
        ]

    def ready(self) -> None:
        for child in self.children:
            child.problem = None

    async def _link(self) -> str | None:
        return "http://x/open" if self.children[0].problem is None else None

    async def _missing(self) -> Sequence[Fact] | None:
        return self.report

    def _say(
        self, children: Sequence[ChildStatus], missing: Sequence[Fact], link: str | None
    ) -> None:
        self.told.append(([p.state for p in children], [fact.what for fact in missing], link))

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        announcer = StartAnnouncer(
            children=self.children,
            moved=self.moved,
            clock=self.clock,
            link=self._link,
            missing=self._missing,
            say_waiting=lambda children: self.waited.append([one.state for one in children]),
            say=self._say,
        )
        async with asyncio.TaskGroup() as group:
            task = group.create_task(announcer.run())
            await asyncio.sleep(0)
            yield
            task.cancel()


STANDS: Told = (["ready", "ready"], ["stacks"], "http://x/open")


async def test_everything_is_told_once_all_are_ready_and_have_reported() -> None:
    scene = Scene()
    async with scene.running():
        scene.ready()
        await scene.clock.advance(1.0)
        assert scene.told == []
        scene.report = (NO_BPF,)
        await scene.clock.advance(2 * STEP_S)
        assert scene.told == [STANDS]
        await scene.clock.advance(100.0)
        assert scene.told == [STANDS]


async def test_what_takes_longer_is_waited_for_and_that_is_said_once() -> None:
    scene = Scene(report=(NO_BPF,))
    async with scene.running():
        await scene.clock.advance(PATIENCE_S - STEP_S)
        assert scene.waited == []
        await scene.clock.advance(20 * PATIENCE_S)
        assert scene.waited == [["not ready: not started yet"] * 2]
        assert scene.told == []
        scene.ready()
        await scene.clock.advance(2 * LATER_STEP_S)
        assert scene.told == [STANDS]
        await scene.clock.advance(20 * PATIENCE_S)
    assert (len(scene.waited), len(scene.told)) == (1, 1)


async def test_the_link_is_shown_when_there_is_one_for_a_while_whatever_else_is_not_ready() -> None:
    scene = Scene(report=(NO_BPF,))
    half: Told = (["ready", "not ready: not started yet"], [], "http://x/open")
    async with scene.running():
        await scene.clock.advance(PATIENCE_S + STEP_S)
        scene.children[0].problem = None
        await scene.clock.advance(PATIENCE_S + 2 * LATER_STEP_S)
        assert scene.told == [half]
        await scene.clock.advance(20 * PATIENCE_S)
        assert scene.told == [half]
        scene.ready()
        await scene.clock.advance(2 * LATER_STEP_S)
    assert scene.told == [half, STANDS]
    assert len(scene.waited) == 1


async def test_a_link_that_is_there_in_time_is_shown_without_a_word_about_waiting() -> None:
    scene = Scene()
    scene.ready()
    async with scene.running():
        await scene.clock.advance(PATIENCE_S + STEP_S)
        assert scene.told == [(["ready", "ready"], [], "http://x/open")]
    assert scene.waited == []


def test_what_is_waited_for_stands_with_its_reason_and_the_rest_does_not() -> None:
    shown = waiting(
        (
            ChildStatus("brain", 7, "", "it does not answer yet"),
            ChildStatus("credentials", 8, "", None),
        )
    )
    assert "  brain        pid 7         not ready: it does not answer yet\n" in shown
    assert "credentials" not in shown
    assert "observe has not reported yet" in waiting((ChildStatus("brain", 7, "", None),))


async def test_everything_is_told_again_when_the_page_has_moved_and_stands() -> None:
    scene = Scene(report=(NO_BPF,))
    scene.ready()
    async with scene.running():
        await scene.clock.advance(STEP_S)
        assert scene.told == [STANDS]
        scene.children[0].problem = "starting"
        scene.moved.set()
        await scene.clock.advance(STEP_S)
        assert scene.told == [STANDS]
        scene.ready()
        await scene.clock.advance(STEP_S)
        assert scene.told == [STANDS, STANDS]
        await scene.clock.advance(100.0)
        assert len(scene.told) == 2
