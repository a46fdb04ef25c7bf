"""Which registries may be asked, and where: by a setting, because nobody else may send us anywhere."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from nemutator_controller.images.references import DOCKER_HUB

DOCKER_HUB_API = "registry-1.docker.io"
"""Docker Hub is named by another host than the one that answers."""

_HOST = re.compile(
    r"(?P<plain>http://)?(?P<host>[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?)"
)
_ADDRESS = re.compile(r"[0-9.]+|\[.*\]|.*:.*:.*")

EXPECTED = "expected hosts with commas between, like docker.io, registry.example:5000"


@dataclass(frozen=True, slots=True)
class AllowedRegistries:
    plain: Mapping[str, bool]
    """By host, whether it is asked over plain HTTP."""

    def origin(self, registry: str) -> str | None:
        """Where its API is; None: it may not be asked."""
        plain = self.plain.get(registry)
        if plain is None:
            return None
        host = DOCKER_HUB_API if registry == DOCKER_HUB else registry
        return f"{'http' if plain else 'https'}://{host}"

    def may_be_sent_to(self, scheme: str, host: str, netloc: str) -> bool:
        """Whether a registry may send us there: for a token, or to where it keeps what it serves.

        That is often somebody else's host. It is none without a name, which nobody has a certificate for
        but those inside, and none over plain HTTP unless the setting says so for it.
        """
        if netloc in self.plain:
            return scheme == ("http" if self.plain[netloc] else "https")
        return scheme == "https" and not _ADDRESS.fullmatch(host)


def parse_registries(text: str) -> AllowedRegistries:
    """Raises ValueError."""
    plain: dict[str, bool] = {}
    for one in filter(None, (part.strip() for part in text.split(","))):
        found = _HOST.fullmatch(one)
        if found is None:
            raise ValueError(EXPECTED)
        plain[found["host"].lower()] = bool(found["plain"])
    return AllowedRegistries(plain)
