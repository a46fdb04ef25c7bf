"""Advice for a workload that has been known for long, for tests of what is made of advice."""

from nemutator_controller.sizing.documents import Advice, RecommendedAmounts, Use

KNOWN = Advice(
    namespace="shop",
    owner_kind="Deployment",
    owner="cart",
    container="app",
    strategy="nemutator",
    state="firm",
    reason="",
    points=9_000,
    span_s=200_000.0,
    last_at=1.0,
    use=Use(cpu_p50=0.1, cpu_p95=0.2, memory_p95=1, memory_max=200_000_000),
    requests_now=RecommendedAmounts(cpu="1000m", memory="1000000000"),
    requests=RecommendedAmounts(cpu="200m", memory="300M"),
    limits=RecommendedAmounts(memory="300M"),
    pods=3,
)
