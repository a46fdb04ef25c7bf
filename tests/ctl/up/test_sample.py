import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common import declarations
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_controller.ingest.usage_points import Series
from nemutator_controller.policies.model import policy_from_document
from nemutator_controller.policies.season_policies import season_policy_of
from nemutator_controller.sizing.keys import ByPath
from nemutator_ctl.edits import ShownObject
from nemutator_ctl.up import sample
from nemutator_ctl.up.child import Child
from nemutator_ctl.up.command_lines import Command, Typed
from nemutator_ctl.up.restarts import Ended
from nemutator_ctl.up.sample import BUILT_WITHIN_S, PROFILED_WITHIN_S, STEP_S, PutUp, Sample

from tests.fakes.clocks import ManualClock
from tests.fakes.processes import FakeProcesses

THERE = PutUp(secret="greeting", mutation="7f")
TYPED = Typed("nemutator", Path("/data"), named=False)
OBJECTS = Path("/data/objects")
TO_TRY = sample.to_try(THERE, TYPED, objects=OBJECTS)

SAMPLE = Command(("scripts/sample",))
UNFIT = OperatorError("no such thing", remedy="make one", code=ExitCode.FAILED)


@dataclass
class FakeSampleApi:
    go: bool = True
    ended: str | None = ""
    refusal: OperatorError | None = None
    profiles: list[int] = field(default_factory=list)
    day_s: float | None = None
    followed: list[int] = field(default_factory=list)

    async def put_up(self) -> PutUp:
        if self.refusal:
            raise self.refusal
        return replace(THERE, day_s=self.day_s)

    async def follow_seasons(self, pid: int) -> None:
        self.followed.append(pid)

    async def is_go(self, pid: int) -> bool:
        return self.go

    async def profile(self, pid: int) -> str:
        self.profiles.append(pid)
        return "p1"

    async def failure(self, profile: str) -> str | None:
        assert profile == "p1"
        return self.ended


@dataclass
class Scene:
    api: FakeSampleApi = field(default_factory=FakeSampleApi)
    clock: ManualClock = field(default_factory=ManualClock)
    processes: FakeProcesses = field(default_factory=FakeProcesses)
    told: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.brain = self._child("brain", Command(("brain",)))
        self.sample = self._child("sample", SAMPLE)

    def _child(self, name: str, command: Command) -> Child:
        return Child(
            name=name,
            command=command,
            processes=self.processes,
            health=self.processes,
            clock=self.clock,
            roll=lambda: 0.0,
            drain_s=0.5,
        )

    @contextlib.asynccontextmanager
    async def running(self, *, brain: bool = True) -> AsyncIterator[None]:
        self.brain.problem = None if brain else "starting"
        shown = Sample(
            child=self.sample,
            needed=(self.brain,),
            api=self.api,
            clock=self.clock,
            typed=TYPED,
            objects=OBJECTS,
            say=self.told.append,
        )
        async with asyncio.TaskGroup() as group:
            task = group.create_task(shown.run())
            await self.clock.advance(0.0)
            yield
            task.cancel()


async def test_the_profile_command_is_told_once_a_first_profile_is_there() -> None:
    scene = Scene(FakeSampleApi(ended=None))
    async with scene.running():
        await scene.clock.advance(STEP_S)
        pid = scene.processes.last.pid
        assert scene.api.profiles == [pid]
        assert scene.told == [TO_TRY]
        scene.api.ended = ""
        await scene.clock.advance(STEP_S)
        assert scene.told == [TO_TRY, sample.profiled(pid, TYPED)]
        await scene.clock.advance(600.0)
        assert len(scene.told) == 2


async def test_nothing_is_put_up_before_the_others_stand() -> None:
    scene = Scene()
    async with scene.running(brain=False):
        await scene.clock.advance(60.0)
        assert scene.told == []
        scene.brain.problem = None
        await scene.clock.advance(2 * STEP_S)
        assert scene.told


async def test_no_profile_is_asked_for_while_the_sample_is_being_built() -> None:
    scene = Scene(FakeSampleApi(go=False))
    async with scene.running():
        await scene.clock.advance(BUILT_WITHIN_S - 2 * STEP_S)
        assert scene.api.profiles == []
        assert scene.told == [TO_TRY]
        scene.api.go = True
        await scene.clock.advance(STEP_S)
        assert scene.api.profiles


async def test_where_profiles_are_refused_the_reason_is_told_and_no_command_that_cannot_work() -> (
    None
):
    scene = Scene(FakeSampleApi(ended="no BPF\n  remedy: run as root"))
    async with scene.running():
        await scene.clock.advance(STEP_S)
        assert scene.told == [TO_TRY, sample.not_shown("no BPF\n  remedy: run as root")]
        assert "nemutator profile" not in "".join(scene.told)


async def test_a_profile_that_never_comes_is_told_as_that() -> None:
    scene = Scene(FakeSampleApi(ended=None))
    async with scene.running():
        await scene.clock.advance(PROFILED_WITHIN_S + 2 * STEP_S)
        assert "has not come" in scene.told[-1]


async def test_what_cannot_be_put_up_is_told_and_the_sample_runs_on() -> None:
    scene = Scene(FakeSampleApi(refusal=UNFIT))
    async with scene.running():
        assert scene.told == [sample.not_shown(str(UNFIT))]
        assert scene.processes.last.poll() is None


async def test_a_sample_that_cannot_be_built_ends_nothing() -> None:
    scene = Scene(processes=FakeProcesses(lambda child: child.end(Ended(ExitCode.SETTINGS))))
    async with scene.running():
        await scene.clock.advance(BUILT_WITHIN_S + STEP_S)
        assert scene.sample.problem is not None
        assert scene.told[1:] == [
            sample.not_shown("the sample does not run; its own message is above")
        ]


def test_the_policy_has_no_fault_and_is_applied() -> None:
    policy = policy_from_document(sample.POLICY)
    assert policy.spec.mode == "Apply"
    assert sample.MANIFEST["metadata"]["namespace"] in policy.spec.match.namespaces


def test_the_secret_has_a_name_that_can_be_asked_for() -> None:
    assert declarations.is_name(sample.SECRET)


POLICY = ShownObject("MutationPolicy", "", "sample-owners")
SHOP = ShownObject("Deployment", "sample", "shop")
WANTED = [sample.POLICY, sample.MANIFEST]


def test_only_what_is_not_there_is_put_up() -> None:
    assert sample.absent(WANTED, []) == WANTED
    assert sample.absent(WANTED, [SHOP]) == [sample.POLICY]
    assert sample.absent(WANTED, [POLICY]) == [sample.MANIFEST]
    assert sample.absent(WANTED, [SHOP, POLICY]) == []


def test_what_only_shares_a_name_is_something_else() -> None:
    others = [
        replace(SHOP, namespace="default"),
        replace(SHOP, kind="Pod"),
        replace(POLICY, name="x"),
    ]
    assert sample.absent(WANTED, others) == WANTED


DATA = Path("/data dir")
QUOTED = Typed("nemutator", DATA, named=True)


def text_of(there: PutUp) -> str:
    return sample.to_try(there, QUOTED, objects=DATA / "objects")


def test_each_job_has_a_command_that_can_be_copied() -> None:
    shown = text_of(PutUp(secret="greeting", mutation="7f"))
    option = "--data-dir '/data dir'"
    url = "http://nemutator/v1/secret/greeting"
    assert f"curl --silent --unix-socket '/data dir/agent.sock' {url}\n" in shown
    assert f"nemutator advise {option}\n" in shown
    assert f"nemutator rollback {option} 7f\n" in shown
    profiled = sample.profiled(12, QUOTED)
    assert f"nemutator profile {option} pid:12 --seconds 10\n" in profiled
    assert "flame graph" in profiled


def test_where_nothing_can_be_rolled_back_the_text_says_how_to_make_something() -> None:
    shown = text_of(PutUp(secret="greeting", mutation=None))
    assert "nemutator rollback" not in shown
    assert "nothing is left to roll back" in shown
    file = "'/data dir/objects/Deployment/sample/shop.json'"
    forget = "--forget --namespace sample --workload Deployment/shop"
    assert f"nemutator tombstones --data-dir '/data dir' {forget}\n" in shown
    assert f"nemutator apply --data-dir '/data dir' {file}\n" in shown


def test_what_is_missing_is_told_with_its_remedy() -> None:
    said = sample.not_shown("no BPF\n  remedy: run as root")
    assert said == "  Not shown\n    no BPF\n      remedy: run as root\n\n"


@given(st.text())
def test_what_others_say_cannot_draw_on_the_terminal(problem: str) -> None:
    assert sample.not_shown(problem).replace("\n", "").isprintable()


def test_where_a_day_is_short_seasons_are_told() -> None:
    there = PutUp(secret="greeting", mutation="m1", day_s=120.0)
    said = sample.to_try(there, TYPED, objects=OBJECTS)
    assert "a day takes 2 minutes here" in said
    assert "after 8 minutes its seasons are known" in said
    assert "seasons" not in TO_TRY


CONTAINER = "b" * 64


@pytest.mark.parametrize(
    ("path", "kind", "name", "is_summed"),
    [
        ("/", "root", "/", True),
        ("/user.slice/user-0.slice/session-3.scope", "session", "session-3.scope", False),
        ("/system.slice/demo.service", "unit", "demo.service", False),
        (f"/docker/{CONTAINER}", "container", CONTAINER[:12], False),
        ("/build/one", "group", "one", False),
        ("/build/one", "group", "one", True),
    ],
)
def test_brains_follow_the_sample_as_seasons_know_it(
    path: str, kind: str, name: str, is_summed: bool
) -> None:
    found = sample.scope_of(path, kind, name, "shop", is_summed=is_summed)
    series = Series(
        path,
        None,
        CONTAINER if kind == "container" else None,
        "shop" if is_summed else None,
    )
    key = ByPath().of("n1", series)
    assert key is not None
    assert (found.namespace, found.kind, found.name) == (key.namespace, key.owner_kind, key.owner)
    for brain in sample.brains(found):
        when = season_policy_of(brain["metadata"]["name"], brain["spec"]).spec.when
        assert when.season
        assert when.of is not None
        assert when.of.name == found.name


async def test_brains_are_put_up_once_it_runs_where_a_day_is_short() -> None:
    scene = Scene(FakeSampleApi(go=False, day_s=120.0))
    async with scene.running():
        await scene.clock.advance(STEP_S)
        assert scene.api.followed == []
        scene.api.go = True
        await scene.clock.advance(STEP_S)
        assert scene.api.followed == [scene.processes.last.pid]
    scene = Scene()
    async with scene.running():
        await scene.clock.advance(STEP_S)
        assert scene.api.followed == []
