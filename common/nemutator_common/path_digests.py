"""What stands for a path in the audit: equal for equal paths, and of no use without the key."""

import hashlib
import hmac

from nemutator_common.secret import Secret

DIGEST_HEX = 32


def path_digest(key: Secret, path: str) -> str:
    # A path that is not UTF-8 has a digest, too.
    octets = path.encode("utf-8", "surrogatepass")
    return hmac.digest(key.reveal().encode(), octets, hashlib.sha256).hex()[:DIGEST_HEX]
