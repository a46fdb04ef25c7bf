"""Makes what is missing, one part after the other, and says of each why it could not be made."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tests.testbed.building import (
    base_image,
    debian_packages,
    foreign_guest,
    go_programs,
    guest,
    guest_kernels,
    guest_packages,
    guest_programs,
    npm_packages,
    runtime,
    wheels,
)
from tests.testbed.building.cache import Cache, MissingPartError
from tests.testbed.building.made import PARTS
from tests.testbed.building.recipes import DEBIAN_GROUPS, GUEST_KERNELS, Recipe

Say = Callable[[str], None]
Maker = Callable[[Recipe, Cache, Say], None]

MAKERS: dict[str, Maker] = {
    **dict.fromkeys(DEBIAN_GROUPS, debian_packages.unpack),
    "bcc": functools.partial(guest_programs.build, "bcc.img"),
    "base-image": base_image.build,
    "guest": guest.build,
    **{one.part: functools.partial(guest_kernels.build, one) for one in GUEST_KERNELS},
    "guest-packages": guest_packages.build,
    "runtime": runtime.build,
    "speedscope": npm_packages.build,
    "guest-arm64": functools.partial(foreign_guest.build, "arm64"),
    "guest-packages-arm64": functools.partial(guest_packages.build, architecture="arm64"),
    "go-kinds": go_programs.build_kinds,
    "vault-client": go_programs.build,
    "bao-client": go_programs.build,
    "helm": go_programs.build,
    "versitygw": go_programs.build,
    "victoria-metrics": go_programs.build,
    "bao": wheels.build,
    "schemathesis": wheels.build,
    "vault": go_programs.build,
    "kube": go_programs.build,
}


@dataclass(frozen=True, slots=True)
class Workshop:
    """Which parts there are, and how each is made: of this checkout, unless a test says other."""

    recipes: Mapping[str, Callable[[], Recipe]] = field(default_factory=lambda: PARTS)
    makers: Mapping[str, Maker] = field(default_factory=lambda: MAKERS)


def make_all(
    names: Sequence[str], cache: Cache, say: Say, workshop: Workshop | None = None
) -> bool:
    """Make those of the parts that are not there; false when one of them could not be made."""
    workshop = workshop or Workshop()
    if all(_is_there(workshop.recipes[name], cache) for name in names):
        return True
    try:
        with cache.locked(say):
            # One after the other to the end: what can be made is made, whatever else cannot.
            made = [_made(name, cache, say, workshop) for name in names]
            return all(made)
    except MissingPartError as missing:
        say(str(missing))
        return False


def _is_there(recipe: Callable[[], Recipe], cache: Cache) -> bool:
    try:
        return cache.has(recipe())
    except MissingPartError:
        return False  # and will be told when it is made


def _made(name: str, cache: Cache, say: Say, workshop: Workshop) -> bool:
    try:
        recipe = workshop.recipes[name]()
        # Looked for again: another build may have made it while this one waited.
        if not cache.has(recipe):
            workshop.makers[name](recipe, cache, say)
    except MissingPartError as missing:
        say(f"{name}: {missing}")
        return False
    return True
