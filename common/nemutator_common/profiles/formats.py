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
        return parse(content.decode())
    except UnicodeDecodeError:
        return decode_any(content)
    except MalformedFoldedError as not_folded:
        try:
            return decode_any(content)
        except MalformedProfileError as not_pprof:
            raise MalformedProfileError(
                f"neither pprof ({not_pprof}) nor folded stacks ({not_folded})"
            ) from None
