"""What scaling asks of others, in memory."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from nemutator_common.admission_snapshots import Tombstone
from nemutator_controller.app.scaling import SCALERS
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.mutations.decisions import Decision
from nemutator_controller.scaling.model import SoundScaler
from nemutator_controller.scaling.raising import MinimumRaising
from nemutator_controller.scaling.records import (
    CpuGoal,
    FoundAutoscaler,
    NotScaledWorkloadError,
    ScalerKey,
    SpareCpu,
    Workload,
    WorkloadForecast,
)

from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

WEB = Workload(("shop", "Deployment", "web"))
ME = "nemutator"


def autoscaler(name: str = "web", **changes: Any) -> FoundAutoscaler:
    """Of pods that request one core, of which they are to use half."""
    found = FoundAutoscaler(
        namespace="shop",
        name=name,
        uid=f"u-{name}",
        version="1",
        minimum=2,
        maximum=10,
        workload=WEB,
        goal=CpuGoal(percent=50),
        request_millis=1_000,
        pods=2,
        requested_millis=2_000,
    )
    return replace(found, **changes)


def foreseen(cores: float, **changes: Any) -> WorkloadForecast:
    made = WorkloadForecast(now=0.5, ahead=cores, upper=cores, lead_s=900, skill=0.8)
    return replace(made, **changes)


@dataclass
class MemoryScalers:
    """A `KnownScalers`; specs by name, all of the namespace shop."""

    specs: dict[str, Any] = field(default_factory=dict)
    known: bool = True

    def _checked(self) -> tuple[Sequence[SoundScaler], Mapping[ScalerKey, str]]:
        return SCALERS.of({("shop", name, f"s-{name}"): spec for name, spec in self.specs.items()})

    def sound(self) -> Sequence[SoundScaler] | None:
        return self._checked()[0] if self.known else None

    def faulty(self) -> Mapping[ScalerKey, str]:
        return self._checked()[1]


@dataclass
class MemoryAutoscalers:
    """A `ScaledAutoscalers`."""

    there: dict[ScalerKey, FoundAutoscaler] = field(default_factory=dict)
    known: bool = True
    refuses: str = ""
    written: list[int] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    def put(self, one: FoundAutoscaler) -> None:
        self.there[one.key] = one

    async def now(
        self, wanted: Collection[ScalerKey]
    ) -> Mapping[ScalerKey, FoundAutoscaler] | None:
        if not self.known:
            return None
        return {key: one for key, one in self.there.items() if key in wanted or one.annotation}

    async def raise_to(self, one: FoundAutoscaler, minimum: int, annotation: str) -> None:
        self._write(one, minimum, annotation)

    async def give_back(self, one: FoundAutoscaler, base: int) -> None:
        self._write(one, base, "")

    def _write(self, one: FoundAutoscaler, minimum: int, annotation: str) -> None:
        if self.refuses:
            raise NotScaledWorkloadError(self.refuses)
        live = self.there.get(one.key)
        if live is None or (live.uid, live.version) != (one.uid, one.version):
            return
        self.written.append(minimum)
        version = str(int(live.version) + 1)
        self.put(replace(live, minimum=minimum, annotation=annotation, version=version))

    def notify(self, one: FoundAutoscaler, note: str, *, warning: bool = False) -> None:
        self.told.append(note)


@dataclass
class FixedForecasts:
    """A `WorkloadForecasts`."""

    said: WorkloadForecast = field(default_factory=lambda: foreseen(0.5))

    def of(self, workload: Workload, lead_s: float | None) -> WorkloadForecast:
        return self.said


@dataclass
class MemoryScalingJournal:
    """A `ScalingJournal`."""

    decisions: list[Decision] = field(default_factory=list)
    over: list[str] = field(default_factory=list)
    stones: list[Tombstone] = field(default_factory=list)
    is_away: bool = False

    async def add(self, decision: Decision) -> None:
        self._asked()
        self.decisions.append(decision)

    async def tombstones(self) -> Sequence[Tombstone]:
        self._asked()
        return self.stones

    async def ended(self, decision: str, paths: Sequence[str], why: str) -> None:
        self._asked()
        self.over.append(decision)

    def _asked(self) -> None:
        if self.is_away:
            raise StoreUnavailableError("full")


@dataclass
class FixedGuards:
    """A `GrowthQueries`."""

    value: float | str = 0.0
    asked: int = 0

    async def highest(self, query: str) -> float | str:
        self.asked += 1
        return self.value


@dataclass
class FixedSpare:
    """A `SpareCpuOfCluster`."""

    said: SpareCpu | None = None

    async def now(self) -> SpareCpu | None:
        return self.said


@dataclass
class Raised:
    """The engine, with all that it asks."""

    scalers: MemoryScalers = field(
        default_factory=lambda: MemoryScalers({"web": {"target": "web", "mode": "Apply"}})
    )
    autoscalers: MemoryAutoscalers = field(default_factory=MemoryAutoscalers)
    forecasts: FixedForecasts = field(default_factory=FixedForecasts)
    journal: MemoryScalingJournal = field(default_factory=MemoryScalingJournal)
    guards: FixedGuards = field(default_factory=FixedGuards)
    clock: ManualClock = field(default_factory=ManualClock)
    meter: MemoryMeter = field(default_factory=MemoryMeter)
    most: int = 100

    def __post_init__(self) -> None:
        if not self.autoscalers.there:
            self.autoscalers.put(autoscaler())
        self.process = fake_process(clock=self.clock, meter=self.meter)
        self.made = 0
        self.raising = self.anew()

    def anew(self) -> MinimumRaising:
        """As after a restart of the brain."""
        self.raising = MinimumRaising(
            self.scalers,
            self.autoscalers,
            self.forecasts,
            self.journal,
            self.guards,
            self.process,
            me=ME,
            most=self.most,
            fresh=self._fresh,
        )
        return self.raising

    def _fresh(self) -> str:
        self.made += 1
        return f"d{self.made}"

    @property
    def web(self) -> FoundAutoscaler:
        return self.autoscalers.there["shop", "web"]

    @property
    def reasons(self) -> dict[str, str]:
        return {one.name: one.reason for one in self.raising.states.values()}

    async def at(self, cores: float, **changes: Any) -> int:
        """The minimum after a round in which so much is foreseen."""
        self.forecasts.said = foreseen(cores, **changes)
        await self.raising.round()
        return self.web.minimum
