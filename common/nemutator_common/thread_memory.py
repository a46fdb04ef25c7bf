"""Lets all threads of this process have their memory from one place.

The C library of glibc gives each thread that needs memory an arena of its own. What one thread has freed is then in the way of no
other, and of no use to it either: the brain's threads each kept what the largest of their turns had taken. Our threads run by turns, so
there is nobody to wait for.
"""

import ctypes

_M_ARENA_MAX = -8
"""malloc/malloc.h of glibc"""


def share_memory_among_threads() -> bool:
    """From now on; False where the C library has no such choice. Threads that have begun keep what they have."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and mallopt(_M_ARENA_MAX, 1) == 1
