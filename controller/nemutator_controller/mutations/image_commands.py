"""What an image starts by itself, as far as it is known: the port of the verb `env`."""

from dataclasses import dataclass
from typing import Protocol

AWAITED = "its entrypoint is being read from its registry; create the pod again in some seconds"


@dataclass(frozen=True, slots=True)
class ImageCommand:
    entrypoint: tuple[str, ...]
    arguments: tuple[str, ...]
    """Its CMD: the arguments of containers that give none."""


@dataclass(frozen=True, slots=True)
class NoImageCommand:
    reason: str = ""
    """Empty: images are not read here."""
    soon: bool = False
    """Whether it will be known in some seconds."""


class ImageCommands(Protocol):
    """Answers from memory."""

    def of(self, image: str) -> ImageCommand | NoImageCommand: ...


@dataclass(frozen=True, slots=True)
class WithoutImageCommands:
    """The `ImageCommands` where no image is read."""

    def of(self, image: str) -> ImageCommand | NoImageCommand:
        return NoImageCommand()


NO_IMAGE_COMMANDS = WithoutImageCommands()
