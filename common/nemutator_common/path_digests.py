"""What stands for a path in the audit: equal for equal paths, and of no use without the key.

All processes of an installation have the same keys, one on each line. The first is the one that digests
are written with; those below it were, and whoever looks for a path looks for its digest by each.
"""

import hashlib
import hmac
from collections.abc import Sequence

from nemutator_common.secret import Secret

DIGEST_HEX = 32

SHORTEST, LONGEST = 32, 256
"""Characters of a key. Paths are easy to guess, so the key has to be hard to."""

MOST = 8

EXPECTED = f"expected 1 to {MOST} lines of {SHORTEST} to {LONGEST} ASCII characters"


def path_digest(key: Secret, path: str) -> str:
    # A path that is not UTF-8 has a digest, too.
    octets = path.encode("utf-8", "surrogatepass")
    return hmac.digest(key.reveal().encode(), octets, hashlib.sha256).hex()[:DIGEST_HEX]


def keys_in(text: bytes) -> Sequence[Secret] | None:
    """The keys in *text*; None: it is not what they are kept as."""
    lines = text.split()
    fit = all(SHORTEST <= len(line) <= LONGEST and line.isascii() for line in lines)
    return (
        tuple(Secret(line.decode()) for line in lines) if fit and 0 < len(lines) <= MOST else None
    )
