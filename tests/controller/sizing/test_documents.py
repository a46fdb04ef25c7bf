from msgspec.structs import replace
from nemutator_common.admission_snapshots import Amounts
from nemutator_controller.sizing.documents import (
    UNLISTED_S,
    advice_list,
    essence,
    for_admission,
    is_listed,
)
from nemutator_controller.sizing.keys import ContainerKey, Requested
from nemutator_controller.sizing.known_usage import KnownUsage

from tests.fakes.sizing import NOTHING_GROWS, GrowingContainers, columns_of

NOW = 8.0
SEEN = KnownUsage(
    key=ContainerKey("shop", "Deployment", "cart", "app"),
    points=100,
    span_s=1500.04,
    step_s=15.0,
    sampled_s=1500.04,
    steps=100.0,
    last_at=7.0,
    cpu_p50=0.1,
    cpu_p95=0.2,
    memory_p95=200_000_000,
    memory_max=200_000_000,
)
OLD = replace(SEEN, points=14 * 5_760, span_s=14 * 86_400.0, sampled_s=14 * 86_400.0)
FEW = replace(SEEN, key=ContainerKey("other", "unit", "ssh.service", "-"), points=3)


def test_advice_stands_beside_what_is_requested_now() -> None:
    asked = {SEEN.key: Requested(cpu_millis=500, memory_bytes=1 << 30)}
    [advice] = advice_list(columns_of(SEEN), asked, NOTHING_GROWS, now=NOW)
    young = "no limit of memory before a day: 25 min of data"
    assert (advice.state, advice.strategy, advice.reason) == ("firm", "nemutator", young)
    assert (advice.requests_now.cpu, advice.requests_now.memory) == ("500m", "1073741824")
    assert (advice.requests.cpu, advice.requests.memory) == ("200m", "802M")
    assert (advice.limits.cpu, advice.limits.memory) == (None, None)
    assert (advice.lower.cpu, advice.lower.memory) == ("100m", "200M")
    assert (advice.confidence.cpu, advice.confidence.memory) == (0.017, 0.017)
    assert advice.span_s == 1500.0


def test_after_a_day_memory_is_limited_to_what_is_requested() -> None:
    [advice] = advice_list(columns_of(OLD), {}, NOTHING_GROWS, now=NOW)
    assert (advice.requests.memory, advice.limits.memory, advice.reason) == ("236M", "236M", "")
    assert (advice.upper.cpu, advice.upper.memory) == ("215m", "253M")


def test_memory_that_grows_is_not_paid_for() -> None:
    [advice] = advice_list(columns_of(OLD), {}, GrowingContainers([OLD.key]), now=NOW)
    assert (advice.requests.cpu, advice.requests.memory) == ("200m", None)
    assert advice.limits.memory is None
    assert (advice.lower.memory, advice.upper.memory, advice.confidence.memory) == (None, None, 0.0)
    assert advice.reason == "this memory grows: see ageing"


def test_without_enough_points_there_are_only_reasons() -> None:
    [advice] = advice_list(columns_of(FEW), {}, NOTHING_GROWS, now=NOW)
    assert advice.state == "not_yet"
    assert advice.reason.startswith("3 of 8 points")
    nothing = (None, None)
    for amounts in (advice.requests, advice.limits, advice.requests_now):
        assert (amounts.cpu, amounts.memory) == nothing


def test_a_sum_of_processes_is_called_one() -> None:
    program = replace(OLD, key=ContainerKey("vm", "program", "shop", "-"))
    firm, few = advice_list(
        columns_of(program, replace(program, points=9)), {}, NOTHING_GROWS, now=NOW
    )
    assert firm.reason == "a sum of processes"
    assert few.reason.endswith("; a sum of processes")


def test_its_essence_changes_with_a_decision_and_not_with_time() -> None:
    def of(seen: KnownUsage) -> object:
        return essence(advice_list(columns_of(seen), {}, NOTHING_GROWS, now=NOW))

    assert of(SEEN) == of(replace(SEEN, points=200, span_s=3_000.0, last_at=8.0))
    assert of(SEEN) != of(replace(SEEN, cpu_p95=0.3))
    assert of(SEEN) != of(replace(SEEN, points=99))


def test_what_ended_without_a_value_leaves_the_list_after_an_hour() -> None:
    value, few = advice_list(columns_of(SEEN, FEW), {}, NOTHING_GROWS, now=NOW)
    later = NOW + UNLISTED_S + 1
    assert is_listed(few, now=NOW)
    assert not is_listed(few, now=later)
    assert is_listed(value, now=later)


def test_programs_that_live_for_seconds_are_not_listed() -> None:
    shell = replace(FEW, key=ContainerKey("vm", "program", "sh", "-"), span_s=30.0)
    passing, staying = advice_list(
        columns_of(shell, replace(shell, span_s=75.0)), {}, NOTHING_GROWS, now=NOW
    )
    assert not is_listed(passing, now=NOW)
    assert is_listed(staying, now=NOW)


def test_what_somebody_else_sizes_is_left_to_them_and_why() -> None:
    [advice] = advice_list(columns_of(SEEN), {}, NOTHING_GROWS, now=NOW)
    sent = for_admission(advice, {"cpu": "a HorizontalPodAutoscaler follows it"})
    assert sent.requests.cpu is None
    assert sent.requests.memory == advice.requests.memory
    assert sent.reason.endswith("a HorizontalPodAutoscaler follows it")


def test_admission_gets_what_it_decides_by() -> None:
    [advice] = advice_list(columns_of(SEEN), {}, NOTHING_GROWS, now=NOW)
    sent = for_admission(advice)
    whose = (sent.namespace, sent.owner_kind, sent.owner, sent.container)
    assert whose == ("shop", "Deployment", "cart", "app")
    assert (sent.state, sent.strategy, sent.points) == ("firm", "nemutator", 100)
    assert (sent.requests, sent.limits) == (Amounts(cpu="200m", memory="802M"), Amounts())


def test_figures_are_rounded_as_by_hand() -> None:
    # In the middle between two as they are written, and a little beside it as they are stored.
    cores = [0.00005, 0.00015, 0.10005, 0.20015, 1.00045, 2.67495, 12.34565, 1 / 3]
    rows = [replace(SEEN, cpu_p50=one, cpu_p95=one) for one in cores]
    uses = [one.use for one in advice_list(columns_of(*rows), {}, NOTHING_GROWS, now=NOW)]
    assert [one.cpu_p95 for one in uses] == [round(one, 4) for one in cores]
