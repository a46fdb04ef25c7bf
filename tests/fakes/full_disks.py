"""A file system that takes no more, for as long as a test asks: the kernel's own limit on file sizes."""

import contextlib
import resource
from collections.abc import Iterator


@contextlib.contextmanager
def full_disk(*, takes_bytes: int = 8) -> Iterator[None]:
    """Files that this process writes may not grow beyond *takes_bytes*."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (takes_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
