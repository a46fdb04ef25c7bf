"""What service links and tokens of service accounts have in common: a pod has them or not."""

import msgspec


class Switch(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    set: bool
