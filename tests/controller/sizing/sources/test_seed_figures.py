import math

from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.sizing.documents import Advice, RecommendedAmounts, Use
from nemutator_controller.sizing.sources.named_owners import NamedOwners
from nemutator_controller.sizing.sources.recorded_steps import PodContainer
from nemutator_controller.sizing.sources.seed_figures import SeedFigures, by_seed

values = st.lists(st.floats(0, 1e6), min_size=1, max_size=20)


def figures(of: list[float]) -> SeedFigures:
    return SeedFigures(largest=max(of), total=math.fsum(of), points=len(of))


@given(st.lists(values, min_size=1, max_size=5))
def test_days_say_together_what_one_question_over_all_of_them_would(
    days: list[list[float]],
) -> None:
    first, *others = map(figures, days)
    for other in others:
        first = first.beside(other)
    whole = figures([value for day in days for value in day])
    assert first.largest == whole.largest
    assert math.isclose(first.average, whole.average, rel_tol=1e-9, abs_tol=1e-9)


def row(owner: str) -> Advice:
    return Advice(
        namespace="shop",
        owner_kind="Deployment",
        owner=owner,
        container="app",
        strategy="nemutator",
        state="firm",
        reason="",
        points=100,
        span_s=1.0,
        last_at=1.0,
        use=Use(cpu_p50=0, cpu_p95=0, memory_p95=0, memory_max=0),
        requests_now=RecommendedAmounts(cpu="2"),
        requests=RecommendedAmounts(cpu="1", memory="1"),
        limits=RecommendedAmounts(),
    )


def test_the_busiest_pod_decides_and_both_sides_are_said() -> None:
    pods = [PodContainer("shop", f"cart-7c9d8f5b6d-x2x9{each}", "app") for each in "bc"]
    cores = {
        pods[0]: SeedFigures(largest=2.0, total=50.0, points=100),
        pods[1]: SeedFigures(largest=1.0, total=80.0, points=100),
    }
    memory = {pods[0]: SeedFigures(largest=300e6, total=200e8, points=100)}
    cart, other = by_seed([row("cart"), row("other")], cores, memory, NamedOwners())
    assert cart.requests == RecommendedAmounts(cpu="880m", memory="220000000")
    assert cart.limits == RecommendedAmounts(cpu="2660m", memory="399000000")
    assert (cart.strategy, cart.state, cart.requests_now) == (
        "seed",
        "firm",
        RecommendedAmounts(cpu="2"),
    )
    assert (other.state, other.requests) == ("not_yet", RecommendedAmounts())
