"""What people write in objects of one kind, as it is watched: each made sound, or with what is wrong with it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from nemutator_controller.kube.informing import Informer, NotSyncedError
from nemutator_controller.policies.model import PolicyError

Key = TypeVar("Key", str, tuple[str, str, str])
Name = TypeVar("Name")
Sound = TypeVar("Sound")


@dataclass(frozen=True, slots=True)
class SpecCheck(Generic[Key, Name, Sound]):
    made: Callable[[Key, Any], Sound]
    """Raises `PolicyError`."""
    named: Callable[[Key], Name]
    """How its fault is asked for."""
    most: int
    too_many: str
    """What is wrong with those beyond the most."""

    def of(self, specs: Mapping[Key, Any]) -> tuple[Sequence[Sound], Mapping[Name, str]]:
        """In the order of their keys."""
        sound: list[Sound] = []
        faulty: dict[Name, str] = {}
        for key in sorted(specs):
            if len(sound) >= self.most:
                faulty[self.named(key)] = f"more than {self.most} {self.too_many}"
                continue
            try:
                sound.append(self.made(key, specs[key]))
            except PolicyError as error:
                faulty[self.named(key)] = str(error)
        return sound, faulty


@dataclass(slots=True)
class WatchedSpecs(Generic[Key, Name, Sound]):
    informer: Informer[Any]
    key_of: Callable[[Any], Key | None]
    """Of an object; None: it does not count."""
    check: SpecCheck[Key, Name, Sound]
    _specs: Mapping[Key, Any] | None = field(default=None, init=False)
    _sound: Sequence[Sound] = field(default=(), init=False)
    _faulty: Mapping[Name, str] = field(default_factory=dict, init=False)

    def sound(self) -> Sequence[Sound] | None:
        """None while they are not known."""
        try:
            found = self.informer.snapshot().objects.values()
        except NotSyncedError:
            return None
        keyed = ((self.key_of(one), one) for one in found)
        specs = {key: one.spec for key, one in keyed if key is not None}
        # Their statuses are written as well, which changes nothing here.
        if specs != self._specs:
            self._specs = specs
            self._sound, self._faulty = self.check.of(specs)
        return self._sound

    def faulty(self) -> Mapping[Name, str]:
        self.sound()
        return self._faulty


def by_name(one: Any) -> str:
    return str(one.metadata.name)


def itself(name: str) -> str:
    return name
