"""Where a test of the contract takes place: a namespace of its own on some API server."""

from pathlib import Path
from typing import Protocol

from nemutator_common.secret import Secret
from nemutator_controller.kube.configuration import Access


class Place(Protocol):
    """What both the fake and the real server can give.

    The default service account of the namespace is there, so that pods are taken; nothing else is.
    On the real server other objects go on in other namespaces.
    """

    @property
    def url(self) -> str: ...

    @property
    def ca_file(self) -> Path: ...

    @property
    def token(self) -> str:
        """Of an administrator."""
        ...

    @property
    def namespace(self) -> str: ...

    async def somebody(self, name: str, *, verbs: str = "", resources: str = "") -> str:
        """A token of a new service account that may do only *verbs* to *resources* here."""
        ...

    async def token_for(self, name: str, audience: str) -> str:
        """Another token of this service account, which only *audience* should take."""
        ...

    async def counted(self, budget: str) -> None:
        """Wait until the disruption controller has taken notice of *budget* and its pods."""
        ...

    async def compact(self) -> None:
        """Make etcd forget everything but the present."""
        ...


def user(place: Place, name: str) -> str:
    """As the server names the service account."""
    return f"system:serviceaccount:{place.namespace}:{name}"


def access(place: Place, token: str = "", *, server: str = "") -> Access:
    """Of an administrator, unless by another *token*; *server*: by another way to the same one."""
    return Access(
        server=server or place.url,
        ca=place.ca_file.read_text(),
        token=Secret(token or place.token),
    )
