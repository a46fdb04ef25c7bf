"""What a path of the API shows or changes, as a permission that an administrator can grant.

In a cluster people need `get` on what they see and `create` or `update` on what they change, of
resources in the group nemutator.io. No objects of them need to exist for RBAC to grant permissions.
"""

from dataclasses import dataclass
from typing import Literal

from nemutator_common import names

API = "/api/v1/"

Verb = Literal["get", "create", "update", "delete"]


@dataclass(frozen=True, slots=True)
class Permission:
    verb: Verb
    resource: str
    narrows: bool = False
    """Its answer is limited to the namespace that the path or else the query names, so that permission there is
    enough."""

    def __str__(self) -> str:
        return f"{self.verb} {self.resource}.{names.DOMAIN}"
