from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.names import STANDS_FOR
from nemutator_controller.journal.stand_ins import StandIn, StandInError, stand_ins_of


def annotated(text: object) -> dict[str, Any]:
    return {"metadata": {"name": "web", "annotations": {str(STANDS_FOR): text}}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("unit/shop.service", StandIn("unit", "shop.service")),
        ("system.slice/unit/shop.service", StandIn("unit", "shop.service", "system.slice")),
        ("web=container/3f1c9ab04d55, program/shop", StandIn("container", "3f1c9ab04d55")),
        ("db=group/pg other=group/x", None),
        ("user.slice/group/a=b", StandIn("group", "a=b", "user.slice")),
    ],
)
def test_a_container_stands_for_what_is_said_of_it_or_of_all(
    text: str, expected: StandIn | None
) -> None:
    found = stand_ins_of(annotated(text))
    assert found is not None
    assert found.of("web") == expected


@pytest.mark.parametrize("document", [{}, {"metadata": None}, {"metadata": {"annotations": {}}}])
def test_without_the_annotation_there_are_none(document: dict[str, Any]) -> None:
    assert stand_ins_of(document) is None


@pytest.mark.parametrize("text", ["", " , ", "shop", "pod/shop", "unit/", "web=", 7, "x" * 5_000])
def test_what_names_nothing_is_said_to(text: object) -> None:
    with pytest.raises(StandInError, match="stands-for"):
        stand_ins_of(annotated(text))


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = stand_ins_of(annotated(text))
    except StandInError:
        return
    assert found is not None
    assert found.containers or found.others
