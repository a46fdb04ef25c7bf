"""A right that nothing needs is taken away: each of a role leads to the code that uses it."""

import importlib
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from nemutator_controller.kube.resources import Resource

from tests.house.test_manifests import documents

DEPLOY = Path(__file__).parents[2] / "deploy"

SOURCE = Path(__file__).parents[2] / "controller"
TEXTS = {path: path.read_text() for path in sorted((SOURCE / "nemutator_controller").rglob("*.py"))}
CODE = "\n".join(TEXTS.values())
# As an endpoint declares it: allowed("get", "profiles", …).
ROUTE = re.compile(r'\ballowed\(\s*"(\w+)",\s*"(\w+)"')


def constants() -> dict[str, set[str]]:
    """By `plural.group`, the names under which code has that resource."""
    found: dict[str, set[str]] = {}
    for path, text in TEXTS.items():
        if "Resource(" not in text or "/versions/" in str(path):
            continue
        module = importlib.import_module(
            ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
        )
        for name, value in vars(module).items():
            several = value if isinstance(value, tuple) else (value,)
            # Resources of one kind in several versions are one constant.
            for one in {
                f"{each.plural}.{each.group}" for each in several if isinstance(each, Resource)
            }:
                found.setdefault(one.rstrip("."), set()).add(name)
    return found


KNOWN = constants()


def rules(kind: str, name: str) -> list[dict[str, Any]]:
    (found,) = (each for each in documents(kind) if each["metadata"]["name"] == name)
    rules: list[dict[str, Any]] = found["rules"]
    return rules


def is_used(resource: str, subresource: str) -> bool:
    """Whether code names the constant of *resource* besides declaring it, and its *subresource*."""
    names = KNOWN.get(resource, set())
    uses = sum(len(re.findall(rf"\b{name}\b(?!\s*(:|=)[^=])", CODE)) for name in names)
    return uses > 0 and (not subresource or f'"{subresource}"' in CODE)


@pytest.mark.parametrize(
    ("kind", "role"),
    [
        ("ClusterRole", "nemutator-admission"),
        ("ClusterRole", "nemutator-brain"),
        ("Role", "nemutator-brain"),
    ],
)
def test_what_a_process_may_do_it_does(kind: str, role: str) -> None:
    for rule in rules(kind, role):
        for path in rule.get("nonResourceURLs", ()):
            assert f'"{path}"' in CODE, path
        for group in rule.get("apiGroups", ()):
            for given in rule["resources"]:
                plural, _, subresource = given.partition("/")
                assert is_used(f"{plural}.{group}".rstrip("."), subresource), given


@pytest.mark.parametrize(
    "file",
    ["buffers/buffer.yaml", "nodes/nodes.yaml", "oversell/oversell.yaml", "scaling/scaling.yaml"],
)
def test_what_an_optional_part_lets_the_brain_do_it_does(file: str) -> None:
    found = yaml.safe_load_all((DEPLOY / file).read_text())
    roles = [each for each in found if each["kind"] in ("Role", "ClusterRole")]
    assert roles
    for rule in (rule for role in roles for rule in role["rules"]):
        for group in rule["apiGroups"]:
            for given in rule["resources"]:
                plural, _, subresource = given.partition("/")
                assert is_used(f"{plural}.{group}".rstrip("."), subresource), given


def test_what_people_may_ask_is_what_the_api_has() -> None:
    served = {(verb, resource) for verb, resource in ROUTE.findall(CODE)}
    for role, may in (
        ("nemutator-operator", served),
        ("nemutator-viewer", {one for one in served if one[0] == "get"}),
    ):
        granted = {
            (verb, resource)
            for rule in rules("ClusterRole", role)
            for resource in rule["resources"]
            for verb in rule["verbs"]
        }
        # Manifests are applied where there is no cluster, and so no role.
        assert granted == {one for one in may if one[1] != "objects"}


def test_what_reaches_the_brain_is_what_the_command_line_asks() -> None:
    asked = (SOURCE / "nemutator_ctl" / "cluster_access.py").read_text()
    asked += (SOURCE / "nemutator_ctl" / "kubeconfigs" / "api_server.py").read_text()
    for rule in rules("Role", "nemutator-reach"):
        for resource in rule["resources"]:
            assert f"/{resource.rpartition('/')[2]}" in asked, resource


def test_a_right_without_use_is_found() -> None:
    assert not is_used("persistentvolumes", "")
    assert not is_used("pods", "exec")
