"""Whoever writes the status of a node, and in whatever order: what kubelet has is amplified once, and believed from it alone."""

from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nemutator_controller.mutations.patches import apply_patch
from nemutator_controller.oversell.amplification import NodeChange, node_change
from nemutator_controller.oversell.ratios import amplified, cpu_millis, cpu_text, ratio_text

RATIO, RAW, LABEL = (f"nemutator.io/{word}" for word in ("oversell-ratio", "raw-cpu", "oversell"))
ME, OTHER, STRANGER = "system:node:n1", "system:node:n2", "system:serviceaccount:kube-system:npd"


@dataclass(frozen=True)
class Written:
    name: str = "n1"
    labels: dict[str, str] = field(default_factory=lambda: {LABEL: "enabled"})
    annotations: dict[str, str] = field(default_factory=dict)
    capacity: dict[str, str] = field(default_factory=lambda: {"cpu": "4", "memory": "8Gi"})
    allocatable: dict[str, str] = field(default_factory=lambda: {"cpu": "4", "memory": "7Gi"})

    def says(self, cpu: str, **annotations: str) -> "Written":
        return replace(
            self,
            allocatable={**self.allocatable, "cpu": cpu},
            annotations={**self.annotations, **annotations},
        )


def node(ratio: str = "1.50", cpu: str = "4", **more: str) -> Written:
    return Written(annotations={RATIO: ratio, **more}).says(cpu)


def after(change: NodeChange, written: Written) -> Written:
    document: Any = {
        "metadata": {"annotations": dict(written.annotations)},
        "status": {"allocatable": dict(written.allocatable)},
    }
    made: Any = apply_patch(document, change.operations)
    return replace(
        written,
        annotations=made["metadata"]["annotations"],
        allocatable=made["status"]["allocatable"],
    )


def test_kubelets_first_word_is_amplified_and_kept_and_memory_stays() -> None:
    change = node_change(ME, node(), node())
    assert change.result == "amplified"
    made = after(change, node())
    assert made.allocatable == {"cpu": "6", "memory": "7Gi"}
    assert made.annotations[RAW] == "4"


def test_whoever_sends_back_what_stands_there_changes_nothing() -> None:
    standing = node(cpu="6", **{RAW: "4"})
    for user in (STRANGER, OTHER, "", ME):
        assert node_change(user, standing, standing).result == "unchanged"


def test_what_a_stranger_writes_is_made_anew_of_what_was_kept() -> None:
    standing = node(cpu="6", **{RAW: "4"})
    for forged in (standing.says("64"), standing.says("6", **{RAW: "3"}), standing.says("1")):
        made = after(node_change(STRANGER, standing, forged), forged)
        assert (made.allocatable["cpu"], made.annotations[RAW]) == ("6", "4")


def test_before_kubelet_has_spoken_nobody_else_is_believed() -> None:
    assert node_change(STRANGER, node(), node()).result == "raw_unknown"
    assert node_change(OTHER, node(), node()).result == "raw_unknown"
    # More than there is cannot be what it has.
    assert node_change(ME, node(cpu="6"), node(cpu="6")).result == "raw_unknown"


def test_another_amount_of_kubelets_own_is_believed() -> None:
    standing = node(cpu="6", **{RAW: "4"})
    made = after(node_change(ME, standing, standing.says("3500m")), standing.says("3500m"))
    assert (made.allocatable["cpu"], made.annotations[RAW]) == ("5250m", "3500m")


def test_a_lower_ratio_holds_at_once_whoever_writes() -> None:
    lowered = node("1.20", cpu="6", **{RAW: "4"})
    made = after(node_change(STRANGER, node(cpu="6", **{RAW: "4"}), lowered), lowered)
    assert made.allocatable["cpu"] == "4800m"


@pytest.mark.parametrize(
    ("written", "result"),
    [
        (replace(node(), labels={}), "not_enabled"),
        (replace(node(), labels={LABEL: "true"}), "not_enabled"),
        (replace(node(), annotations={RAW: "4"}), "not_asked"),
        *[(node(text), "ratio") for text in ("", "NaN", "-1", "9", "1e9", "0.5", "[1.5]")],
        (replace(node(), allocatable={}), "no_cpu"),
        (replace(node(), capacity={}), "no_cpu"),
        *[(node(cpu=text), "no_cpu") for text in ("", "NaN", "-4", "0", "many", "1" * 500)],
    ],
)
def test_what_says_nothing_sound_is_left_as_it_came(written: Written, result: str) -> None:
    for user in (ME, STRANGER):
        assert node_change(user, written, written) == NodeChange(result)  # type: ignore[arg-type]


@pytest.mark.parametrize("kept", ["", "NaN", "-4", "5", "400", "4Ti", "x" * 300])
def test_a_garbled_or_impossible_kept_amount_is_none(kept: str) -> None:
    standing = node(**{RAW: kept})
    assert node_change(STRANGER, standing, standing).result == "raw_unknown"
    made = after(node_change(ME, standing, standing), standing)
    assert (made.allocatable["cpu"], made.annotations[RAW]) == ("6", "4")


texts = st.one_of(
    st.text(max_size=12), st.integers(-(10**6), 10**6).map(lambda one: f"{one}m"), st.just("NaN")
)
writings = st.builds(
    lambda ratio, raw, cpu, capacity: Written(
        annotations={RATIO: ratio, **({} if raw is None else {RAW: raw})},
        capacity={"cpu": capacity},
        allocatable={"cpu": cpu},
    ),
    st.one_of(texts, st.integers(100, 200).map(ratio_text)),
    st.none() | texts,
    texts,
    texts,
)


@settings(max_examples=60)
@given(st.sampled_from([ME, OTHER, STRANGER]), writings, writings)
def test_asked_about_its_own_result_it_changes_nothing_more(
    user: str, before: Written, written: Written
) -> None:
    once = after(node_change(user, before, written), written)
    assert not node_change(user, before, once).operations


@settings(max_examples=60)
@given(st.sampled_from([ME, OTHER, STRANGER]), writings, writings)
def test_never_more_than_the_ratio_of_all_that_there_is(
    user: str, before: Written, written: Written
) -> None:
    change = node_change(user, before, written)
    for operation in change.operations:
        if operation["path"] == "/status/allocatable/cpu":
            capacity = cpu_millis(written.capacity["cpu"])
            said = cpu_millis(operation["value"])
            assert said is not None
            assert capacity is not None
            assert said <= 2 * capacity


steps = st.lists(
    st.one_of(
        st.tuples(st.just("kubelet"), st.booleans()),
        st.tuples(st.just("late kubelet"), st.booleans()),
        st.tuples(st.just("stranger"), st.booleans()),
        st.tuples(st.just("forger"), st.integers(1, 20_000)),
        st.tuples(st.just("other kubelet"), st.integers(1, 20_000)),
        st.tuples(st.just("ratio"), st.integers(100, 200)),
        st.tuples(st.just("again"), st.booleans()),
    ),
    max_size=12,
)


@settings(max_examples=60)
@given(st.integers(100, 4_000), steps)
def test_no_sequence_of_writers_amplifies_twice(raw: int, sequence: list[tuple[str, Any]]) -> None:
    """*away*: the webhook has not answered."""
    stands = node(cpu=cpu_text(raw))
    stands = after(node_change(ME, stands, stands), stands)
    for who, value in sequence:
        written, user, away = stands, STRANGER, False
        match who:
            case "kubelet":
                written, user, away = stands.says(cpu_text(raw)), ME, value
            case "late kubelet":
                user, away = ME, value
            case "stranger":
                away = value
            case "forger":
                text = cpu_text(value)
                written = stands.says(text, **{RAW: text})
            case "other kubelet":
                written, user = stands.says(cpu_text(value)), OTHER
            case "ratio":
                written = stands.says(stands.allocatable["cpu"], **{RATIO: ratio_text(value)})
        before, stands = stands, written
        if not away:
            stands = after(node_change(user, before, written), written)
            if who == "again":
                stands = after(node_change(user, before, stands), stands)
            ratio = round(100 * float(stands.annotations[RATIO]))
            assert cpu_millis(stands.allocatable["cpu"]) == amplified(raw, ratio)
            assert stands.annotations[RAW] == cpu_text(raw)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(1, 4_000), st.booleans()), max_size=8), st.integers(100, 200))
def test_a_node_that_changes_is_never_amplified_beyond_what_it_has_now(
    amounts: list[tuple[int, bool]], ratio: int
) -> None:
    stands = node(ratio_text(ratio))
    for raw, away in amounts:
        written = stands.says(cpu_text(raw))
        change = NodeChange("unchanged") if away else node_change(ME, stands, written)
        stands = after(change, written)
        said = cpu_millis(stands.allocatable["cpu"])
        assert said is not None
        assert said <= amplified(raw, ratio)
