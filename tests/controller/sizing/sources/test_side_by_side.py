import numpy as np
import pytest
from nemutator_controller.sizing.documents import Advice, RecommendedAmounts, Use
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.sources import side_by_side
from nemutator_controller.sizing.sources.recorded_steps import PodContainer, RecordedSteps
from nemutator_controller.sizing.sources.side_by_side import (
    PodMatrices,
    TooMuchRecordedError,
    by_strategy,
)

HOURS = 24
COUNT = HOURS * 12
KEY = ContainerKey("shop", "Deployment", "web", "app")


class Known:
    def of(self, namespace: str, pod: str, container: str) -> ContainerKey | None:
        return None if pod == "lost" else KEY


def advice() -> Advice:
    return Advice(
        namespace="shop", owner_kind="Deployment", owner="web", container="app",
        strategy="nemutator", state="firm", reason="x", points=9, span_s=1.0, last_at=1.0,
        use=Use(cpu_p50=0, cpu_p95=0, memory_p95=0, memory_max=0), requests_now=RecommendedAmounts(),
        requests=RecommendedAmounts(cpu="1m"), limits=RecommendedAmounts(),
    )  # fmt: skip


def matrices(pods: int = 1) -> PodMatrices:
    found = PodMatrices(0.0, 300, COUNT)
    for half in range(2):
        rows = {
            PodContainer("shop", pod, "app"): np.full(COUNT // 2, 0.2 + 0.1 * number)
            for number, pod in enumerate([f"web-{n}" for n in range(pods)] + ["lost"])
        }
        levels = {of: row * 1e9 for of, row in rows.items()}
        found.take(
            RecordedSteps(half * COUNT // 2 * 300.0, 300.0, COUNT // 2, rows, levels), Known()
        )
    return found


@pytest.mark.parametrize(
    ("name", "cpu", "memory"),
    [
        ("krr", "300m", "345000000"),
        ("krr-limit", "300m", "345000000"),
        ("seed", "330m", "399000000"),
    ],
)
def test_each_strategy_says_what_it_would_request_next(name: str, cpu: str, memory: str) -> None:
    (found,) = by_strategy([advice()], matrices(pods=2), name)
    assert (found.strategy, found.state) == (name, "firm")
    assert found.requests == RecommendedAmounts(cpu=cpu, memory=memory)
    assert found.limits == RecommendedAmounts(memory=memory)


def test_what_is_right_for_hours_is_shown_and_in_no_manifest() -> None:
    (found,) = by_strategy([advice()], matrices(), "nemutator-hourly")
    assert found.requests.cpu is not None
    assert 190 <= int(found.requests.cpu.removesuffix("m")) <= 240
    assert (found.state, found.limits) == ("provisional", RecommendedAmounts())
    assert found.reason.startswith("for the coming hours, to be changed in place; with less")


def test_after_a_week_it_was_tried() -> None:
    found = PodMatrices(0.0, 300, 8 * COUNT)
    row = np.full(8 * COUNT, 0.2)
    of = PodContainer("shop", "web-1", "app")
    found.take(RecordedSteps(0.0, 300.0, 8 * COUNT, {of: row}, {of: row * 1e9}), Known())
    (told,) = by_strategy([advice()], found, "nemutator-hourly")
    assert told.reason == "for the coming hours, to be changed in place"


def test_vpa_limits_nothing() -> None:
    (found,) = by_strategy([advice()], matrices(), "vpa")
    assert found.requests.cpu is not None
    assert 230 < int(found.requests.cpu.removesuffix("m")) < 260
    assert found.limits == RecommendedAmounts()


def test_with_too_little_data_there_is_a_reason() -> None:
    (found,) = by_strategy([advice()], PodMatrices(0.0, 300, COUNT), "krr")
    assert (found.state, found.requests) == ("not_yet", RecommendedAmounts())
    assert "krr says nothing" in found.reason


def test_more_than_fits_is_refused() -> None:
    count = side_by_side.MOST_CELLS
    found = PodMatrices(0.0, 300, count)
    row = np.zeros(1)
    for number in range(2):
        of = {PodContainer("shop", f"web-{number}", "app"): row}
        found.take(RecordedSteps(0.0, 300.0, 1, of, {}), Known())
    more = RecordedSteps(0.0, 300.0, 1, {PodContainer("shop", "web-2", "app"): row}, {})
    with pytest.raises(TooMuchRecordedError):
        found.take(more, Known())
