"""The authority that the API server trusts when it calls our webhooks."""

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from nemutator_common.names import DOMAIN

from nemutator_controller.registration.certificates import certificates_only


def bundle_patch(configuration: Mapping[str, Any], authority: str) -> Sequence[Mapping[str, Any]]:
    """The JSON Patch that makes our entries of a webhook configuration trust *authority* (PEM).

    Entries of others and those that are right already are left alone. Each change is guarded by the
    entry's name, because somebody may reorder the entries between our read and our write.
    """
    if not certificates_only(authority):
        raise ValueError("a CA bundle must have nothing but certificates")
    bundle = base64.b64encode(authority.encode()).decode()
    operations: list[Mapping[str, Any]] = []
    for index, entry in enumerate(configuration.get("webhooks") or ()):
        name = str(entry.get("name", ""))
        if not name.endswith(f".{DOMAIN}") or entry["clientConfig"].get("caBundle") == bundle:
            continue
        path = f"/webhooks/{index}"
        operations += [
            {"op": "test", "path": f"{path}/name", "value": name},
            {"op": "add", "path": f"{path}/clientConfig/caBundle", "value": bundle},
        ]
    return operations
