import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_ctl.item_names import item_names

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=15,
)


@pytest.mark.parametrize(
    ("item", "name"),
    [
        ({"id": "m-1", "name": "web"}, "m-1"),
        ({"kind": "Deployment", "name": "web", "namespace": "shop"}, "deployment/web"),
        ({"name": "node-a"}, "node-a"),
        ({"workload": {"kind": "StatefulSet", "name": "db"}, "container": "a"}, "statefulset/db"),
        ({"workload": "Deployment/web"}, "Deployment/web"),
        ({"pod": "web-1"}, "web-1"),
        ({"namespace": "/", "owner_kind": "program", "owner": "shop"}, "program/shop"),
        ({"namespace": "shop", "cores": 1.5}, "shop"),
    ],
)
def test_an_item_is_called_as_the_next_command_takes_it(item: object, name: str) -> None:
    assert item_names({"items": [item]}) == f"{name}\n"


def test_each_name_comes_once_and_an_empty_list_is_no_failure() -> None:
    assert item_names({"items": [{"name": "a"}, {"name": "b"}, {"name": "a"}]}) == "a\nb\n"
    assert item_names({"items": []}) == ""
    assert item_names([{"name": "a"}]) == "a\n"


@pytest.mark.parametrize("document", [{"version": "1"}, None, "text", 3, {"items": {"a": 1}}])
def test_what_is_no_list_has_no_names(document: object) -> None:
    with pytest.raises(OperatorError, match="no list") as refused:
        item_names(document)
    assert refused.value.code is ExitCode.USAGE


@given(st.lists(JSON, max_size=8))
def test_whatever_a_brain_answers_each_line_is_one_name_that_prints(items: list[object]) -> None:
    printed = item_names({"items": items})
    assert printed == "" or printed.endswith("\n")
    for line in printed.split("\n"):
        assert line.isprintable()
