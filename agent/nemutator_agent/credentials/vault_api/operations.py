"""What a request of a client of Vault is called in the audit."""

from collections.abc import Mapping

from nemutator_common.wire import GrantOperation

from nemutator_agent.credentials.vault_api.allow_list import Purpose
from nemutator_agent.credentials.vault_api.api_request import ApiRequest

_BY_PURPOSE: Mapping[Purpose, GrantOperation] = {
    Purpose.MOUNT: "lookup",
    Purpose.HEALTH: "lookup",
    Purpose.CAPABILITIES: "lookup",
    Purpose.TOKEN: "lookup",
    Purpose.LEASE: "lease",
    Purpose.WRAPPING: "unwrap",
}


def operation_of(request: ApiRequest) -> GrantOperation:
    if request.purpose is Purpose.DATA:
        return "list" if request.is_list else by_method(request.method)
    return _BY_PURPOSE[request.purpose]


def by_method(method: str) -> GrantOperation:
    """As far as it is known of a request that cannot be understood."""
    match method:
        case "GET" | "HEAD":
            return "read"
        case "DELETE":
            return "delete"
    return "write"
