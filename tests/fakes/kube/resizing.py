"""What the resize of a pod takes over, and what it refuses, in the server's own words."""

from typing import Any

from tests.fakes.kube.kinds import PODS
from tests.fakes.kube.statuses import Cause, invalid

Json = dict[str, Any]


def resized(name: str, old: Json, new: Json) -> Json:
    """The spec *old* with the resources that *new* gives its containers, and nothing else of it."""
    wanted = {each["name"]: each.get("resources", {}) for each in new.get("containers", [])}
    wrong: list[Cause] = []
    containers = []
    for index, container in enumerate(old.get("containers", [])):
        resources = wanted.get(container["name"], {})
        for which in ("requests", "limits"):
            had = container.get("resources", {}).get(which, {})
            if had.keys() - resources.get(which, {}).keys():
                why = f"Forbidden: resource {which} cannot be removed"
                wrong.append(
                    ("FieldValueForbidden", f"spec.containers[{index}].resources.{which}", why)
                )
        containers.append({**container, "resources": resources})
    if wrong:
        raise invalid(PODS, name, *wrong)
    return {**old, "containers": containers}
