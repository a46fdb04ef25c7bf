"""Contents of files as readers of them see them."""

from nemutator_agent.inspection.bounded_file import ReadAt
from nemutator_agent.profiler.symbols.image import Image


def reader(content: bytes) -> ReadAt:
    return lambda offset, size: content[offset : offset + size]


def image(content: bytes) -> Image:
    return Image(reader(content))
