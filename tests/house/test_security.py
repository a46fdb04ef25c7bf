"""What docs/security.md and docs/operations.md say is so: their tests exist, and what is granted is what is said."""

import re

import pytest

from tests.house.test_manifests import containers, documents
from tests.house.tree import REPOSITORY

PAGE = (REPOSITORY / "docs" / "security.md").read_text()
NAMED = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE)
OF_OPERATIONS = re.findall(
    r"`(tests/[\w/]+\.py)::(\w+)`", (REPOSITORY / "docs" / "operations.md").read_text()
)
DRILLS = re.findall(r"ARGS=(tests/[\w/]+\.py)`", PAGE)


@pytest.mark.parametrize(("path", "name"), NAMED + OF_OPERATIONS)
def test_each_test_that_is_named_exists(path: str, name: str) -> None:
    assert f"def {name}(" in (REPOSITORY / path).read_text()


def test_many_tests_are_named_and_the_drills_exist() -> None:
    assert len(NAMED) >= 15
    assert len(OF_OPERATIONS) >= 10
    assert len(DRILLS) == 2
    assert all((REPOSITORY / path).is_file() for path in DRILLS)


def test_the_agents_rights_are_those_of_the_table() -> None:
    (agent,) = documents("DaemonSet")
    volumes = agent["spec"]["template"]["spec"]["volumes"]
    hosts = {each["name"]: each["hostPath"]["path"] for each in volumes if "hostPath" in each}
    granted = set()
    for name, container in containers().items():
        if name not in {"mount", "credentials", "observe"}:
            continue
        security = container["securityContext"]
        if security.get("privileged"):
            granted.add((name, "`privileged`"))
        else:
            assert security["allowPrivilegeEscalation"] is False
            assert security["capabilities"]["drop"] == ["ALL"]
        granted |= {(name, f"`{each}`") for each in security.get("capabilities", {}).get("add", ())}
        for mount in container["volumeMounts"]:
            if (path := hosts.get(mount["name"])) is not None:
                assert mount["mountPath"] == path
                granted.add((name, f"`{path}`{', read-only' * mount.get('readOnly', False)}"))
        assert security["readOnlyRootFilesystem"] is True
    section = PAGE.partition("## What each container may do")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (\w+) \| (.+?) \| (.+?) \|$", section, re.MULTILINE)
    assert {(name, may) for name, may, _ in rows if name != "container"} == granted


def test_the_rest_has_no_capability() -> None:
    for name in ("admission", "brain"):
        security = containers()[name]["securityContext"]
        assert security["capabilities"] == {"drop": ["ALL"]}
        assert security["allowPrivilegeEscalation"] is False
        assert security["readOnlyRootFilesystem"] is True
