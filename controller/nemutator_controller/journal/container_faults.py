"""What an API server refuses of a manifest's containers: it says so before anybody is asked about the object."""

from collections.abc import Iterator, Mapping
from typing import Any

from nemutator_controller.mutations.paths import TEMPLATES, template_of
from nemutator_controller.mutations.qos import LISTS

_OF_A_POD: Mapping[str, type] = {
    "affinity": dict,
    "dnsConfig": dict,
    "imagePullSecrets": list,
    "nodeSelector": dict,
    "securityContext": dict,
    "tolerations": list,
    "topologySpreadConstraints": list,
    "volumes": list,
}
_OF_A_CONTAINER: Mapping[str, type] = {
    "args": list,
    "command": list,
    "env": list,
    "envFrom": list,
    "image": str,
    "resources": dict,
    "securityContext": dict,
    "volumeMounts": list,
}
_SIDES: Mapping[str, type] = {"requests": dict, "limits": dict}
"""Of `resources`."""

_CALLED: Mapping[type, str] = {dict: "an object", list: "a list", str: "text"}
_REFUSED = "as an API server does"


def container_faults(document: Mapping[str, Any], kind: str) -> Iterator[str]:
    """Each begins with the field; of each list of containers the first one is named."""
    pod = template_of(document, kind)
    spec = pod.get("spec") if isinstance(pod, dict) else None
    if not isinstance(spec, dict):
        return
    where = ".".join((*TEMPLATES[kind], "spec"))
    yield from _wrong(spec, _OF_A_POD, where)
    names: set[str] = set()
    for field in LISTS:
        listed = spec.get(field)
        if listed is not None and not isinstance(listed, list):
            yield f"{where}.{field}: expected a list of containers, {_REFUSED}"
            continue
        for index, each in enumerate(listed or ()):
            here = f"{where}.{field}[{index}]"
            found = next(_faults_of(each, here, names), "")
            if found:
                yield found
                break


def _faults_of(container: Any, where: str, names: set[str]) -> Iterator[str]:
    """*names*: those of the containers before it."""
    if not isinstance(container, dict):
        yield f"{where}: expected a container, {_REFUSED}"
        return
    yield from _wrong(container, _OF_A_CONTAINER, where)
    yield from _wrong(container.get("resources") or {}, _SIDES, f"{where}.resources")
    name = container.get("name")
    if isinstance(name, str):
        if name in names:
            yield f"{where}.name: another container is called {name[:80]!r}, too: expected other names, {_REFUSED}"
        names.add(name)


def _wrong(around: Any, wanted: Mapping[str, type], where: str) -> Iterator[str]:
    for field, kind in wanted.items():
        found = around.get(field) if isinstance(around, dict) else None
        if found is not None and not isinstance(found, kind):
            yield f"{where}.{field}: expected {_CALLED[kind]}, {_REFUSED}"
