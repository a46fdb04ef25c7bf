"""What a pod says that its plan depends on, and what stands beside it: what its containers are called and ask for."""

from typing import Any

import msgspec

from nemutator_controller.admission.container_amounts import (
    ContainerAmounts,
    container_amounts,
    shapes_of,
)
from nemutator_controller.admission.container_names import ContainerNames, container_names
from nemutator_controller.policies.plans import Situation
from nemutator_controller.policies.readings import (
    EVERYTHING,
    UnreadFields,
    names_a_container,
    needs_all,
)

LARGEST = 1 << 16
"""Bytes of a pod whose plan is kept."""

TOKEN_VOLUME = "kube-api-access-"  # noqa: S105 - the beginning of a volume's name
"""Volumes of this name end in five random characters, which the API server makes for each pod."""

_RANDOM = 5


def content_of(
    pod: Any, unread: UnreadFields, situation: Situation
) -> tuple[bytes, ContainerNames | None, ContainerAmounts | None] | None:
    """What *pod* says, but for what is *unread*: two for which it is the same have the same plan. Where the names of
    containers are not in it, they come beside it, and so does what they ask for."""
    metadata, spec = pod.get("metadata"), pod.get("spec")
    if not isinstance(metadata, dict) or not isinstance(spec, dict):
        return None
    annotations = metadata.get("annotations")
    if needs_all(annotations):
        unread = EVERYTHING
    owned = bool(situation.subject.owner_name)
    names, amounts = None, None
    # What was taken back for a workload may be in a container, by its name.
    if (unread.container_names or unread.amounts) and not situation.reversed:
        found = container_names(spec)
        if unread.container_names and not names_a_container(annotations):
            names = found
        if unread.amounts and found is not None:
            amounts = container_amounts(spec)
    read = unread.metadata_of(metadata, owned=owned)
    around = {name: value for name, value in pod.items() if name not in ("metadata", "spec")}
    try:
        outside, inside = (
            msgspec.json.encode((read, around)),
            msgspec.json.encode(
                unread.spec_of(
                    spec,
                    but_names=names is not None,
                    shapes=None if amounts is None else shapes_of(spec, amounts),
                )
            ),
        )
    except RecursionError:
        return None
    volume = _token_volume(spec) if not unread.is_any else ""
    if volume:
        inside = inside.replace(b'"name":"%b"' % volume.encode(), b'"name":"\0"')
    content = outside + inside
    return (content, names, amounts) if len(content) <= LARGEST else None


def _token_volume(spec: dict[str, Any]) -> str:
    """The name of the volume that the API server has added for a token; empty: there is none."""
    volumes = spec.get("volumes")
    for volume in volumes if isinstance(volumes, list) else ():
        name = volume.get("name") if isinstance(volume, dict) else None
        if isinstance(name, str) and name.startswith(TOKEN_VOLUME):
            random = name.removeprefix(TOKEN_VOLUME)
            if len(random) == _RANDOM and random.isascii() and random.isalnum():
                return name
    return ""
