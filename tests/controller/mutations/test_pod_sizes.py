from typing import Any

import pytest
from nemutator_controller.mutations.edits import TooLargeError
from nemutator_controller.mutations.pod_sizes import MOST_CONTAINERS, MOST_ITEMS, check_size


@pytest.mark.parametrize("odd", [None, {}, {"spec": None}, {"spec": {"containers": "x"}}, []])
def test_what_has_no_containers_is_not_too_large(odd: Any) -> None:
    check_size(odd)


def test_a_pod_has_a_most_of_containers_and_ours_does_not_count() -> None:
    containers: list[Any] = [{"name": str(number)} for number in range(MOST_CONTAINERS)]
    ours = {"initContainers": [{"name": "nemutator-init"}]}
    check_size({"spec": {"containers": containers, **ours}})
    with pytest.raises(TooLargeError, match="more than 128 containers"):
        check_size({"spec": {"containers": [*containers, None], **ours}})


def test_no_name_of_a_container_is_longer_than_one_may_be() -> None:
    with pytest.raises(TooLargeError, match="more than 253 characters"):
        check_size({"spec": {"containers": [{"name": "x" * 254}]}})


@pytest.mark.parametrize("field", ["env", "volumeMounts"])
def test_a_list_of_a_container_has_a_most_of_items(field: str) -> None:
    check_size({"spec": {"initContainers": [{"name": "a", field: [{}] * MOST_ITEMS}]}})
    with pytest.raises(TooLargeError, match=f"more than 1000 {field}"):
        check_size({"spec": {"containers": [{"name": "a", field: [{}] * (MOST_ITEMS + 1)}]}})


def test_a_list_of_the_pod_has_one_too() -> None:
    with pytest.raises(TooLargeError, match="more than 1000 tolerations"):
        check_size({"spec": {"tolerations": [{}] * (MOST_ITEMS + 1)}})
