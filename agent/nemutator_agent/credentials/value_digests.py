"""Digests by which a value is known again, also by a later run of this process, and which give it to nobody: without
the key, which does not leave the node, no guess can be tested."""

import hashlib
import hmac
from dataclasses import dataclass

from nemutator_common.secret import Secret


@dataclass(frozen=True, slots=True)
class ValueDigests:
    key: Secret

    def of(self, *parts: bytes) -> bytes:
        """Of all *parts*, and of where each of them ends."""
        made = hmac.new(self.key.reveal().encode(), digestmod=hashlib.sha256)
        for part in parts:
            made.update(len(part).to_bytes(8))
            made.update(part)
        return made.digest()
