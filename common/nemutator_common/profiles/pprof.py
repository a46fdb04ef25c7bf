"""profile.proto, the format of `go tool pprof`, written and read (google/pprof, proto/).

One location is one physical call: the frames that were inlined into it come first in its lines. A
frame's kind is that of its mapping. What pprof has no field for is in the comments, one
`word value` each, which `go tool pprof -comments` shows.
"""

from nemutator_common.profiles.pprof_decoder import (
    MalformedProfileError,
    decode,
    decode_heap,
    decode_off_cpu,
)
from nemutator_common.profiles.pprof_encoder import (
    OFF_CPU,
    encode,
    encode_heap,
    encode_nanoseconds,
)

__all__ = [
    "OFF_CPU",
    "MalformedProfileError",
    "decode",
    "decode_heap",
    "decode_off_cpu",
    "encode",
    "encode_heap",
    "encode_nanoseconds",
]
