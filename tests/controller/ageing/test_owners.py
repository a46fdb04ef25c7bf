from dataclasses import replace

import pytest
from nemutator_controller.ageing.owners import ByGroup

from tests.fakes.ageing import window_source


@pytest.mark.parametrize(
    ("group", "container", "expected"),
    [
        ("/system.slice/x.service", None, ("system.slice", "unit", "x.service")),
        ("/", None, ("/", "group", "/")),
        ("/a/b", None, ("a", "group", "b")),
        ("/docker/ff", "0123456789abcdef", ("docker", "container", "0123456789ab")),
    ],
)
def test_a_group_names_its_owner(
    group: str, container: str | None, expected: tuple[str, str, str]
) -> None:
    source = replace(window_source(), group=group, container_id=container)
    found = ByGroup().of(source)
    assert found is not None
    assert (found.namespace, found.owner_kind, found.owner) == expected
    assert (found.container, found.program) == ("-", "shop")
