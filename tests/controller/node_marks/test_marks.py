"""A patch of a node changes what is ours under the keys that are meant, and hands on what is not ours."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from nemutator_common import names
from nemutator_controller.node_marks.marks import (
    NEVER,
    NO_MARKS,
    OWN,
    OWN_TAINTS,
    MarkedNode,
    NodeMarks,
    NodeTaint,
    differing,
    merged,
    only,
    patch_of,
)

PRESSURE, RESERVE = str(names.PRESSURE), str(names.RESERVE)
WRITERS = str(names.MARKED_BY)
LABEL, NOTE = str(names.PLACEMENT_GRADE), str(names.REMOVABLE)
FOREIGN = NodeTaint("gpu", "a", "NoExecute", "2026-01-01T00:00:00Z")
NODE = MarkedNode(
    name="n1",
    uid="u1",
    version="7",
    taints=(FOREIGN, NodeTaint(PRESSURE, "2")),
    labels={"zone": "a", LABEL: "3"},
)


def test_of_a_node_ours_is_told_from_others() -> None:
    assert NODE.own.words == {PRESSURE: "2:PreferNoSchedule", LABEL: "3"}


def test_only_what_differs_is_named() -> None:
    wanted = NodeMarks({PRESSURE: NodeTaint(PRESSURE, "3")}, {LABEL: "3"})
    assert differing(NODE.own, wanted) == {PRESSURE}
    assert differing(NODE.own, NODE.own) == frozenset()
    assert differing(NODE.own, NO_MARKS) == {PRESSURE, LABEL}


def test_a_patch_hands_on_taints_of_others_as_they_were() -> None:
    wanted = NodeMarks({RESERVE: NodeTaint(RESERVE, "", NEVER)}, annotations={NOTE: "empty"})
    patch = patch_of(NODE, wanted, frozenset({PRESSURE, RESERVE, LABEL, NOTE}), me="a")
    assert patch == {
        "metadata": {
            "labels": {LABEL: None},
            "annotations": {NOTE: "empty", WRITERS: f"{NOTE}=a {RESERVE}=a"},
        },
        "spec": {"taints": [FOREIGN.document, {"key": RESERVE, "effect": NEVER}]},
    }
    assert FOREIGN.document["timeAdded"] == "2026-01-01T00:00:00Z"


def test_a_label_alone_touches_no_taint() -> None:
    assert "spec" not in patch_of(NODE, NO_MARKS, frozenset({LABEL}), me="a")
    assert "metadata" not in patch_of(NODE, NO_MARKS, frozenset({PRESSURE}), me="a")


def test_several_wishes_are_one() -> None:
    one = NodeMarks({PRESSURE: NodeTaint(PRESSURE, "1")})
    other = NodeMarks(labels={LABEL: "1"})
    assert merged([one, other]).words == {PRESSURE: "1:PreferNoSchedule", LABEL: "1"}
    assert only(merged([one, other]), frozenset({LABEL})) == other


@given(
    st.lists(
        st.builds(
            NodeTaint,
            st.sampled_from([*sorted(OWN_TAINTS), "a", "b"]),
            st.sampled_from(["", "1"]),
            st.sampled_from(["NoSchedule", "PreferNoSchedule"]),
        ),
        max_size=6,
        unique_by=lambda one: (one.key, one.effect),
    ),
    st.sets(st.sampled_from(sorted(OWN_TAINTS)), min_size=1),
)
def test_no_taint_of_others_is_ever_lost(taints: list[NodeTaint], keys: set[str]) -> None:
    node = MarkedNode(name="n", uid="u", version="1", taints=tuple(taints))
    wanted = NodeMarks({key: NodeTaint(key, "9") for key in sorted(keys)})
    made = patch_of(node, wanted, frozenset(keys), me="a")["spec"]["taints"]
    foreign = [one.document for one in taints if one.key not in keys]
    assert made[: len(foreign)] == foreign
    assert [one["key"] for one in made[len(foreign) :]] == sorted(keys)


def test_who_has_written_what_is_kept_for_each_mark() -> None:
    node = replace(NODE, annotations={WRITERS: f"{PRESSURE}=b {LABEL}=a stranger=c {RESERVE}"})
    assert node.writers == {PRESSURE: "b", LABEL: "a"}
    wanted = NodeMarks({PRESSURE: NodeTaint(PRESSURE, "3")})
    patch = patch_of(node, wanted, frozenset({PRESSURE, LABEL}), me="c")
    assert patch["metadata"]["annotations"] == {WRITERS: f"{PRESSURE}=c"}
    patch = patch_of(node, NO_MARKS, frozenset({PRESSURE, LABEL}), me="c")
    assert patch["metadata"]["annotations"] == {WRITERS: None}


@given(st.text(max_size=3_000))
def test_whatever_stands_there_names_writers_of_our_marks_alone(text: str) -> None:
    found = replace(NODE, annotations={WRITERS: text}).writers
    assert set(found) <= OWN
