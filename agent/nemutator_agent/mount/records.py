"""What is saved of a volume for the next life of this process: everything but its tokens."""

import json
from dataclasses import asdict, dataclass

from nemutator_agent.mount.volumes import Volume, is_target, is_volume_id
from nemutator_agent.publications import PublishedPod

LARGEST = 256 << 10


@dataclass(frozen=True, slots=True)
class VolumeRecord:
    volume: Volume
    ended: bool = False
    """It is unpublished, and the credentials process has not confirmed that yet."""


def encoded(record: VolumeRecord) -> bytes:
    volume = record.volume
    content = {
        "id": volume.id,
        "target": volume.target,
        "pod": asdict(volume.pod),
        "attributes": dict(volume.attributes),
        "ended": record.ended,
    }
    return json.dumps(content).encode()


def decoded(content: bytes, kubelet_root: str) -> VolumeRecord:
    """The record; a ValueError for what this version would not write."""
    try:
        given = json.loads(content)
        volume = Volume(
            id=given["id"],
            target=given["target"],
            pod=PublishedPod(**given["pod"]),
            attributes=given["attributes"],
        )
        texts = [volume.id, volume.target, *asdict(volume.pod).values()]
        texts += [*volume.attributes.keys(), *volume.attributes.values()]
        ended = given["ended"]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError("not a record of a volume") from error
    whole = all(isinstance(text, str) for text in texts) and isinstance(ended, bool)
    if not whole or not is_volume_id(volume.id) or not is_target(volume.target, kubelet_root):
        raise ValueError("not a record of a volume")
    return VolumeRecord(volume, ended)
