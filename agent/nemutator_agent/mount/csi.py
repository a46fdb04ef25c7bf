"""The messages between kubelet and a node driver: what we read of them, and what we answer.

Numbers of fields are those of csi.proto (v1) and of kubelet's pluginregistration v1.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from nemutator_agent.mount.protobuf import MalformedMessageError, Message, fields

LARGEST_REQUEST = 1 << 20
"""The declarations and tokens of a pod take less than a tenth of it."""

MOST_FIELDS = 1024
MOST_ENTRIES = 256
"""Entries of one map: those that a pod declares, and kubelet's own."""

_SINGLE_NODE_WRITER = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishRequest:
    volume_id: str
    target_path: str
    context: Mapping[str, str]
    secrets: Mapping[str, str] = field(repr=False)
    is_mount: bool
    """Whether a directory is wanted, and not a block device."""
    has_one_writer: bool
    """Whether one node may write, which is what kubelet asks for ephemeral volumes."""


@dataclass(frozen=True, slots=True)
class UnpublishRequest:
    volume_id: str
    target_path: str


@dataclass(frozen=True, slots=True)
class RegistrationStatus:
    registered: bool
    error: str


def parse_publish(message: bytes) -> PublishRequest:
    """Raises MalformedMessageError."""
    texts, maps = {1: "", 4: ""}, dict[int, dict[str, str]]()
    capability = b""
    for number, content in _contents(message):
        if number in texts:
            texts[number] = _text(content)
        elif number in (7, 8):
            entries = maps.setdefault(number, {})
            entries.update([_pair((one.number, one.content) for one in fields(content))])
            if len(entries) > MOST_ENTRIES:
                raise MalformedMessageError(f"more than {MOST_ENTRIES} attributes")
        elif number == 5:
            capability += content  # messages that come twice are merged
    is_mount, mode = _capability(capability)
    return PublishRequest(
        volume_id=texts[1],
        target_path=texts[4],
        context=maps.get(8, {}),
        secrets=maps.get(7, {}),
        is_mount=is_mount,
        has_one_writer=mode == _SINGLE_NODE_WRITER,
    )


def parse_unpublish(message: bytes) -> UnpublishRequest:
    """Raises MalformedMessageError."""
    return UnpublishRequest(*_pair(_contents(message)))


def parse_registration(message: bytes) -> RegistrationStatus:
    """Raises MalformedMessageError."""
    registered, error = False, ""
    for one in fields(_bounded(message)):
        if one.number == 1:
            registered = bool(one.value)
        elif one.number == 2:
            error = _text(one.content)
    return RegistrationStatus(registered, error)


def plugin_registration(driver: str, endpoint: str) -> bytes:
    return _texts("CSIPlugin", driver, endpoint, "1.0.0")


def plugin_info(driver: str, version: str) -> bytes:
    return _texts(driver, version)


def node_info(node: str) -> bytes:
    return _texts(node)


def probed() -> bytes:
    """Ready: a BoolValue, which is a message."""
    ready, answer = Message(), Message()
    ready.number(1, 1)
    answer.message(1, ready.encoded())
    return answer.encoded()


def _texts(*values: str) -> bytes:
    """A message of texts, numbered from 1."""
    answer = Message()
    for number, value in enumerate(values, start=1):
        answer.text(number, value)
    return answer.encoded()


def _contents(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Number and content of each field; numbers have none."""
    for at, one in enumerate(fields(_bounded(message))):
        if at == MOST_FIELDS:
            raise MalformedMessageError(f"more than {MOST_FIELDS} fields")
        yield one.number, one.content


def _text(content: bytes) -> str:
    """Decode strictly: an id or a path with replaced characters would be another one."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise MalformedMessageError("a text is no UTF-8") from None


def _bounded(message: bytes) -> bytes:
    if len(message) > LARGEST_REQUEST:
        raise MalformedMessageError(f"larger than {LARGEST_REQUEST} bytes")
    return message


def _pair(contents: Iterable[tuple[int, bytes]]) -> tuple[str, str]:
    """The texts with the numbers 1 and 2."""
    texts = {1: "", 2: ""}
    for number, content in contents:
        if number in texts:
            texts[number] = _text(content)
    return texts[1], texts[2]


def _capability(message: bytes) -> tuple[bool, int]:
    is_mount, mode = False, 0
    for one in fields(message):
        if one.number in (1, 2):
            is_mount = one.number == 2  # of several, the last one counts
        elif one.number == 3:
            mode = next((inner.value for inner in fields(one.content) if inner.number == 1), 0)
    return is_mount, mode
