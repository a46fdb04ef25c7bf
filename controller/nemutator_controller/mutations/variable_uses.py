"""What else of a container needs a variable: kubelet writes its value in the place of `$(NAME)`."""

import re
from collections.abc import Iterator, Mapping

from nemutator_controller.mutations.paths import Json

_USES = re.compile(r"\$\$|\$\(([^)]{1,253})\)")
"""`$$` is a `$` to kubelet, and begins nothing."""


def uses(container: Json) -> Mapping[str, str]:
    """By name of a variable, what uses it: another variable, by its name, or a field of *container*."""
    found: dict[str, str] = {}
    for by, text in _texts(container):
        for name in used(text):
            if name != by:
                found.setdefault(name, by)
    return found


def used(text: Json) -> set[str]:
    """The variables that *text* has in it."""
    return set(filter(None, _USES.findall(text))) if isinstance(text, str) else set()


def _texts(container: Json) -> Iterator[tuple[str, Json]]:
    for each in _listed(container, "env"):
        if isinstance(each, dict):
            yield str(each.get("name"))[:80], each.get("value")
    for field in ("command", "args"):
        for word in _listed(container, field):
            yield f"`{field}`", word
    for mount in _listed(container, "volumeMounts"):
        if isinstance(mount, dict):
            yield "`subPathExpr`", mount.get("subPathExpr")


def _listed(container: Json, field: str) -> list[Json]:
    found = container.get(field)
    return found if isinstance(found, list) else []
