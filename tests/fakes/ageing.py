"""A store of quiet windows in memory, and workloads that grow or do not."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from nemutator_common.windows import SymbolFrame, WindowPause
from nemutator_controller.ageing.model import (
    AgedWorkload,
    AgeingFinding,
    ChangedWorkload,
    KeptWindow,
    SiteSeries,
    WindowSource,
)
from nemutator_controller.database.failures import StoreUnavailableError

SHOP = AgedWorkload("shop", "Deployment", "web", "app", "shop")
REMEMBER = (
    SymbolFrame("runtime.makeslice", "slice.go", 10),
    SymbolFrame("main.remember", "/src/main.go", 84),
    SymbolFrame("main.main", "/src/main.go", 120),
)
FRAMES = {"leaky": REMEMBER, "calm": (SymbolFrame("main.cache", "/src/cache.go", 7),)}
MB = 1_000_000


def window_source(number: int = 1, *, image: str = "a1", started_at: float = 0.0) -> WindowSource:
    return WindowSource(
        id=f"source-{number}",
        node="n1",
        pid=number,
        started_at=started_at,
        program="shop",
        image=image,
        go_version="go1.26.8",
        group="/shop.slice/shop.service",
        pod_uid=f"uid-{number}",
        container_id=None,
    )


def kept_windows(
    count: int, *, every_s: float = 60.0, grows_by: float = 0.0, first: float = 20.0
) -> list[KeptWindow]:
    """Readings of a process whose heap grows by *grows_by* MB with each of them."""
    return [
        KeptWindow(
            at=place * every_s,
            heap_bytes=round((first + 1 + grows_by * place) * MB),
            collection=place,
            rss_bytes=round((first + 10 + grows_by * place) * MB),
            goroutines=12,
            sites={
                "leaky": site(round((1 + grows_by * place) * MB)),
                "calm": site(round(first * MB)),
            },
        )
        for place in range(count)
    ]


def site(in_use: int) -> SiteSeries:
    return SiteSeries(
        in_use_bytes=in_use,
        in_use_objects=max(in_use // 1000, 1),
        allocated_bytes=2 * in_use,
        allocated_objects=max(in_use // 500, 1),
    )


@dataclass
class MemoryWindows:
    """A `WindowStore`."""

    sources: dict[WindowSource, list[KeptWindow]] = field(default_factory=dict)
    owned: dict[str, AgedWorkload] = field(default_factory=dict)
    saved: dict[str, AgeingFinding] = field(default_factory=dict)
    is_away: bool = False
    histories: int = 0
    """How often one was read."""

    async def unowned(self, most: int) -> Sequence[WindowSource]:
        if self.is_away:
            raise StoreUnavailableError("busy")
        return [one for one in self.sources if one.id not in self.owned][:most]

    async def own(self, sources: Mapping[str, AgedWorkload]) -> None:
        self.owned |= sources

    async def changed_since(self, moment: float) -> Sequence[ChangedWorkload]:
        newest: dict[AgedWorkload, tuple[str, float]] = {}
        for source in sorted(self.sources, key=lambda one: one.started_at):
            read_at = self.sources[source][-1].at
            if source.id in self.owned and read_at > moment:
                _, before = newest.get(self.owned[source.id], ("", 0.0))
                newest[self.owned[source.id]] = source.image, max(before, read_at)
        return [ChangedWorkload(one, image, at) for one, (image, at) in newest.items()]

    async def history(self, workload: AgedWorkload) -> Mapping[WindowSource, Sequence[KeptWindow]]:
        self.histories += 1
        of_it = [one for one in self.sources if self.owned.get(one.id) == workload]
        newest = max(of_it, key=lambda one: one.started_at).image
        return {one: self.sources[one] for one in of_it if one.image == newest}

    async def frames(self, ids: Collection[str]) -> Mapping[str, tuple[SymbolFrame, ...]]:
        return {one: FRAMES[one] for one in ids if one in FRAMES}

    async def findings(self) -> Sequence[AgeingFinding]:
        return list(self.saved.values())

    async def save(self, finding: AgeingFinding) -> None:
        self.saved[finding.workload.id] = finding

    def pauses(self) -> Sequence[WindowPause]:
        return ()

    async def prune(self) -> Mapping[str, int]:
        return {}

    async def known(self) -> frozenset[str]:
        return frozenset(one.id for one in self.owned.values())
