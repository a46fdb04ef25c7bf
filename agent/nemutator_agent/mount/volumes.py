"""Checks what kubelet asks for: ids become names of files, and paths are mounted as root."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from nemutator_common.secret import Secret

from nemutator_agent.mount.csi import PublishRequest, UnpublishRequest
from nemutator_agent.publications import PublishedPod

LONGEST_PATH = 1024

_KUBELET = "csi.storage.k8s.io/"
_TOKENS = f"{_KUBELET}serviceAccount.tokens"
_POD = {
    "namespace": f"{_KUBELET}pod.namespace",
    "name": f"{_KUBELET}pod.name",
    "uid": f"{_KUBELET}pod.uid",
    "service_account": f"{_KUBELET}serviceAccount.name",
}
_EPHEMERAL = f"{_KUBELET}ephemeral"

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")
_UID = re.compile(r"[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# Below kubelet's root; the pod's name for its volume is a DNS label.
_TARGET = re.compile(rf"/pods/(?P<uid>{_UID.pattern})/volumes/kubernetes\.io~csi/[a-z0-9-]+/mount")
_AUDIENCE = re.compile(r"[!-~]{0,256}")
_TOKEN = re.compile(r"[A-Za-z0-9_.-]{1,16384}")
_MOST_TOKENS = 8


class InvalidVolumeError(ValueError):
    """The request is not for a volume of ours; the text is shown on the pod."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """One volume of ours in one pod."""

    id: str
    target: str
    pod: PublishedPod
    attributes: Mapping[str, str]
    """What the pod declares, without kubelet's own attributes."""
    tokens: Mapping[str, Secret] = field(default_factory=dict, compare=False)
    """Tokens by audience. After a restart there are none until kubelet publishes again."""


def volume_of(request: PublishRequest, kubelet_root: str) -> Volume:
    """The volume that is asked for, or InvalidVolumeError."""
    pod = _pod(request.context)
    if request.context.get(_EPHEMERAL, "true") != "true":
        raise InvalidVolumeError("only inline volumes of pods: volumes[].csi")
    if not request.is_mount or not request.has_one_writer:
        raise InvalidVolumeError("only directories that their one pod may write")
    uid = _target_uid(request.target_path, kubelet_root)
    if uid != pod.uid:
        raise InvalidVolumeError(f"the target is pod {uid}'s, the volume is pod {pod.uid}'s")
    return Volume(
        id=_volume_id(request.volume_id),
        target=request.target_path,
        pod=pod,
        attributes={
            name: value for name, value in request.context.items() if not name.startswith(_KUBELET)
        },
        # They come among the secrets with serviceAccountTokenInSecrets, and else in the context.
        tokens=_tokens(request.secrets.get(_TOKENS) or request.context.get(_TOKENS) or "{}"),
    )


def ended_volume(request: UnpublishRequest, kubelet_root: str) -> tuple[str, str]:
    """Id and target of a volume that is to go, or InvalidVolumeError."""
    _target_uid(request.target_path, kubelet_root)
    return _volume_id(request.volume_id), request.target_path


def is_volume_id(text: str) -> bool:
    return _ID.fullmatch(text) is not None


def is_target(path: str, kubelet_root: str) -> bool:
    below = path.removeprefix(kubelet_root)
    return (
        len(path) <= LONGEST_PATH
        and path.startswith(kubelet_root)
        and _TARGET.fullmatch(below) is not None
    )


def _volume_id(text: str) -> str:
    if not is_volume_id(text):
        raise InvalidVolumeError("the volume's id has other characters than letters, digits, _ -")
    return text


def _target_uid(path: str, kubelet_root: str) -> str:
    if not is_target(path, kubelet_root):
        raise InvalidVolumeError(
            f"the target {path[:LONGEST_PATH]!r} is not a volume of a pod in {kubelet_root}; "
            "remedy: the setting kubelet_root must be kubelet's --root-dir, which comes before /pods"
        )
    return path.removeprefix(kubelet_root).split("/", 3)[2]


def _pod(context: Mapping[str, str]) -> PublishedPod:
    pod = PublishedPod(**{field: context.get(key, "") for field, key in _POD.items()})
    for value in (pod.namespace, pod.name, pod.service_account):
        if not _NAME.fullmatch(value):
            raise InvalidVolumeError(
                "kubelet does not name the pod; remedy: podInfoOnMount: true in the CSIDriver"
            )
    if not _UID.fullmatch(pod.uid):
        raise InvalidVolumeError("the pod's uid is not a uid")
    return pod


def _tokens(content: str) -> dict[str, Secret]:
    """`{"audience": {"token": …, "expirationTimestamp": …}}`, as kubelet writes it."""
    try:
        given = json.loads(content)
        tokens = {audience: one["token"] for audience, one in given.items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        # Without its cause, which would show the content.
        raise InvalidVolumeError("the service account's tokens cannot be read") from None
    good = len(tokens) <= _MOST_TOKENS and all(
        _AUDIENCE.fullmatch(audience) and isinstance(token, str) and _TOKEN.fullmatch(token)
        for audience, token in tokens.items()
    )
    if not good:
        raise InvalidVolumeError("the service account's tokens are not tokens")
    return {audience: Secret(token) for audience, token in tokens.items()}
