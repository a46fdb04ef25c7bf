import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.history.cells import RowCells, stepped
from nemutator_controller.history.older import (
    MOST_COPIES,
    PART,
    OlderQuestion,
    expression,
    joined,
    older_cells,
)
from nemutator_controller.prometheus_answers import PrometheusAnswer, PrometheusSeries
from nemutator_controller.sizing.keys import ContainerKey

KEY = ContainerKey("shop", "Deployment", "api", "app")
BEGIN = 1_000_000 // 3600 * 3600
ASKED = OlderQuestion(KEY, BEGIN, 3600, 4)


def series(part: str, values: dict[float, float], **labels: str) -> PrometheusSeries:
    """*values* by step, of which each is told of at its end."""
    at = [BEGIN + 3600 * (step + 1) for step in values]
    return PrometheusSeries({PART: part, **labels}, at, list(values.values()))


def minutes(values: dict[float, float], **labels: str) -> tuple[PrometheusSeries, PrometheusSeries]:
    """Two pods in so many minutes."""
    total = {step: 2 * number for step, number in values.items()}
    return series("pods_sum", total, **labels), series("pods", dict.fromkeys(values, 2.0), **labels)


def test_minutes_are_not_counted_by_samples_that_thanos_may_have_put_together() -> None:
    asked = expression(ASKED, external={})
    assert "count_over_time" not in asked
    assert "sum_over_time(nemutator_container_pods{" in asked
    # Pods that came and went: 60 minutes with one, two or three.
    answer = PrometheusAnswer([series("pods", {0: 1.9000001}), series("pods_sum", {0: 114.0})])
    assert older_cells(answer, ASKED).cells.seconds.tolist() == [3600, 0, 0, 0]


def test_each_measure_of_each_figure_is_a_term_of_one_query() -> None:
    asked = expression(ASKED, external={"cluster": 'a"b'})
    terms = asked.split(" or ")
    assert len(terms) == 2 + 7 * 4
    assert terms[2] == (
        "label_replace(avg_over_time(nemutator_container_cpu_cores"
        '{cluster="a\\"b",namespace="shop",owner_kind="Deployment",owner="api",container="app"}'
        '[3599s]), "nemutator_part", "cpu_cores_mean", "", "")'
    )
    assert "max_over_time(nemutator_container_cpu_cores_pod_max{" in asked


def test_steps_become_cells_with_gaps() -> None:
    answer = PrometheusAnswer(
        [
            series("pods", {0: 2.0, 2: 3.0}),
            series("pods_sum", {0: 120.0, 2: 90.0}),
            series("cpu_cores_mean", {0: 0.5, 2: 1.5}),
            series("cpu_cores_high", {0: 0.9, 2: 1.9}),
        ]
    )
    found = older_cells(answer, ASKED)
    assert found.dropped == {}
    assert found.samples == 8
    assert found.cells.at.tolist() == [BEGIN + 3600 * step for step in range(4)]
    assert found.cells.seconds.tolist() == [3600, 0, 1800, 0]
    assert list(found.cells.figures) == ["cpu_cores"]
    whole = stepped(found.cells, begin=BEGIN, step_s=4 * 3600, steps=1)
    # The half hour counts half.
    assert whole.figures["cpu_cores"]["mean"][0] == np.float64((0.5 * 3600 + 1.5 * 1800) / 5400)
    assert whole.figures["cpu_cores"]["high"][0] == 1.9
    assert np.isnan(whole.figures["cpu_cores"]["low"][0])


def test_what_a_lying_source_says_is_counted() -> None:
    answer = PrometheusAnswer(
        [
            series("cpu_cores_mean", {0: -1.0, 1: 1e30, 2: 0.5, 2.5: 1.0, 9: 1.0}),
            series("cpu_cores_mean", {2: 7.0}, replica="b"),
            series("bitcoins_mean", {0: 1.0}),
            PrometheusSeries({}, [float(BEGIN)], [1.0]),
        ],
        {"future": 2, "duplicate": 1},
    )
    found = older_cells(answer, ASKED)
    assert found.dropped == {"future": 2, "duplicate": 2, "absurd": 2, "off_grid": 2, "unknown": 2}
    assert found.samples == 1
    assert np.isnan(found.cells.figures["cpu_cores"]["mean"][[0, 1, 3]]).all()


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["pods", "pods_sum", "cpu_cores_mean", "memory_bytes_most", "other"]),
            st.lists(st.tuples(st.floats(-1e12, 1e12), st.floats(allow_nan=False)), max_size=8),
        ),
        max_size=6,
    )
)
def test_each_sample_is_used_or_counted(
    given_: list[tuple[str, list[tuple[float, float]]]],
) -> None:
    answer = PrometheusAnswer(
        [
            PrometheusSeries({PART: part}, [at for at, _ in samples], [one for _, one in samples])
            for part, samples in given_
        ]
    )
    found = older_cells(answer, ASKED)
    assert found.samples + sum(found.dropped.values()) == sum(len(some) for _, some in given_)
    assert (found.cells.seconds <= ASKED.step_s).all()
    assert len(found.cells.pods) == ASKED.steps


def test_ours_begins_where_the_older_part_ends() -> None:
    older = older_cells(PrometheusAnswer([series("cpu_cores_mean", {0: 0.5, 3: 0.7})]), ASKED).cells
    seam = BEGIN + 4 * 3600
    ours = RowCells(
        at=np.array([seam - 300, seam, seam + 300]),
        seconds=np.array([300.0, 300.0, 300.0]),
        pods=np.array([9.0, 1.0, 1.0]),
        figures={
            "memory_bytes": {name: np.arange(3.0) for name in ("mean", "low", "high", "most")}
        },
    )
    whole = joined(older, ours, seam=seam)
    assert whole.at.tolist() == [*older.at.tolist(), seam, seam + 300]
    assert whole.pods[4:].tolist() == [1.0, 1.0]
    assert np.isnan(whole.figures["cpu_cores"]["mean"][4:]).all()
    assert np.isnan(whole.figures["memory_bytes"]["mean"][:4]).all()
    assert whole.figures["memory_bytes"]["mean"][4:].tolist() == [1.0, 2.0]


def test_where_one_replica_knows_nothing_another_is_believed() -> None:
    answer = PrometheusAnswer(
        [
            *minutes({0: 60.0, 1: 20.0}, replica="a"),
            series("cpu_cores_mean", {0: 0.5, 1: 0.1}, replica="a"),
            *minutes({0: 60.0, 1: 40.0, 2: 60.0}, replica="b"),
            series("cpu_cores_mean", {0: 0.9, 1: 0.2, 2: 0.3}, replica="b", __name__="of_cores"),
            # Of the last step nobody tells how many minutes it has.
            series("cpu_cores_mean", {3: 0.4}, replica="c"),
        ]
    )
    found = older_cells(answer, ASKED)
    assert found.cells.figures["cpu_cores"]["mean"].tolist() == [0.5, 0.2, 0.3, 0.4]
    assert found.cells.seconds.tolist() == [3600, 2400, 3600, 0]
    assert found.samples == 10
    # What was said twice: of each step but the last two, all three.
    assert found.dropped == {"duplicate": 6}


def test_replicas_without_number_are_not_all_looked_at() -> None:
    copies = [
        series("cpu_cores_mean", {0: 0.5}, replica=str(number)) for number in range(MOST_COPIES + 5)
    ]
    late = series("cpu_cores_mean", {1: 0.5}, replica="late")
    found = older_cells(PrometheusAnswer([*copies, late]), ASKED)
    assert found.samples == 1
    assert found.dropped == {"duplicate": MOST_COPIES + 5}
