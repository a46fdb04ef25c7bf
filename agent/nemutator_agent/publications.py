"""The shapes in which the mount process notifies the credentials process; both import them.

Requests to the credentials process's private socket, which only root of the agent's pod can open:

    PUT    /v1/publications/<volume id>   a `Publication`; again with fresh tokens: 204
    DELETE /v1/publications/<volume id>   its pod has terminated: 204, also when it is not known
    GET    /v1/instance                   an `Instance`: a new one knows nothing yet

The answer to a PUT comes when the pod's socket listens.
"""

from collections.abc import Mapping
from dataclasses import dataclass

PUBLICATIONS_PATH = "/v1/publications"
INSTANCE_PATH = "/v1/instance"


@dataclass(frozen=True, slots=True)
class PublishedPod:
    """A pod as kubelet named it."""

    namespace: str
    name: str
    uid: str
    service_account: str


@dataclass(frozen=True, slots=True)
class VolumeDirectory:
    """The directory of one volume alone, on the node, in which the pod's socket is made."""

    path: str
    device: int
    inode: int
    """With its device: which directory it is. A volume that is made again has another one at the same path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """One volume of ours in one pod."""

    pod: PublishedPod
    directory: VolumeDirectory
    attributes: Mapping[str, str]
    """The attributes of the volume: what the pod declares (`declarations.from_volume`)."""
    tokens: Mapping[str, str]
    """Tokens of the pod's service account, by audience. Never written, never logged."""
    pods_root: str = ""
    """Kubelet's control group, as the setting `credentials.pods_root` would name it, because mount sees the
    whole machine and a container with a cgroup namespace of its own does not. Empty when not known."""


@dataclass(frozen=True, slots=True)
class Instance:
    """One run of the credentials process."""

    id: str
