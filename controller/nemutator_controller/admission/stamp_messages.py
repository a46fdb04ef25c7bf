"""What processes of admission that share a port tell each other of the stamps of pods that are being made."""

from collections.abc import Mapping

import msgspec

from nemutator_controller.mutations.decisions import Edit

OriginWords = tuple[str, str, str, str, str, str, bool]
"""An `Origin`, as it is sent."""


class KeptStamp(msgspec.Struct, frozen=True, tag="kept"):
    """A pod gets this stamp."""

    origin: OriginWords
    labels: Mapping[str, str]
    """Those of the pod that are not ours."""
    id: str
    edits: tuple[Edit, ...]
    given_back: bool = False
    """Whether it had lost it."""


class TakenStamp(msgspec.Struct, frozen=True, tag="taken"):
    """A pod that had lost this stamp has it again."""

    origin: OriginWords
    id: str


StampMessage = KeptStamp | TakenStamp

# As JSON, which has numbers of any length, as pods may have.
_decoder: msgspec.json.Decoder[StampMessage] = msgspec.json.Decoder(KeptStamp | TakenStamp)


def encode_message(message: StampMessage) -> bytes:
    return msgspec.json.encode(message)


def decode_message(content: bytes) -> StampMessage | None:
    """None: it is none."""
    try:
        return _decoder.decode(content)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError):
        return None
