"""A profile from a file, whatever wrote it: pprof, compressed or not, or folded stacks."""

from nemutator_common.profiles.folded import MalformedFoldedError, parse
from nemutator_common.profiles.pprof_decoder import (
    LARGEST,
    MalformedProfileError,
    decode_any,
    decompressed,
)
from nemutator_common.profiles.sums import AnyProfile

_GZIP = b"\x1f\x8b"


def decode_file(content: bytes) -> AnyProfile:
    """The profile in *content*. Raises MalformedProfileError."""
    if content.startswith(_GZIP):
        content = decompressed(content)
    if len(content) > LARGEST:
        raise MalformedProfileError(f"more than {LARGEST} bytes")
    try:
        return parse(_text(content, errors="strict"))
    except (UnicodeDecodeError, MalformedFoldedError):
        pass
    try:
        return decode_any(content)
    except MalformedProfileError as not_pprof:
        try:
            # A name may be of any bytes, where a program or a tool has cut it.
            return parse(_text(content, errors="replace"))
        except MalformedFoldedError as not_folded:
            raise MalformedProfileError(
                f"neither pprof ({not_pprof}) nor folded stacks ({not_folded})"
            ) from None


def _text(content: bytes, *, errors: str) -> str:
    return content.decode("utf-8-sig", errors)
