"""Empty volumes get a limit where they have none."""

import pytest
from nemutator_controller.mutations.edits import Draft
from nemutator_controller.mutations.empty_dir import EmptyDirs, apply, faults


def test_only_those_without_a_limit_get_one() -> None:
    volumes = [
        {"name": "tmp", "emptyDir": {}},
        {"name": "own", "emptyDir": {"sizeLimit": "5Gi"}},
        {"name": "memory", "emptyDir": {"medium": "Memory"}},
        {"name": "huge", "emptyDir": {"medium": "HugePages-2Mi"}},
        {"name": "config", "configMap": {"name": "x"}},
        {"name": "other", "emptyDir": {}},
    ]
    draft = Draft({"spec": {"volumes": volumes}}, "Pod")
    apply(
        draft,
        EmptyDirs(size_limit="1Gi", volumes=("tmp", "own", "memory", "huge", "config")),
        policy="p",
    )
    assert [(edit.path, edit.after) for edit in draft.edits()] == [
        ("volumes[name=tmp].emptyDir.sizeLimit", ("1Gi",))
    ]


@pytest.mark.parametrize("limit", ["", "much", "0", "-1", "1 Gi"])
def test_a_limit_is_a_quantity(limit: str) -> None:
    [fault] = faults(EmptyDirs(size_limit=limit))
    assert fault.startswith("sizeLimit: ")
    assert list(faults(EmptyDirs(size_limit="1Gi"))) == []
