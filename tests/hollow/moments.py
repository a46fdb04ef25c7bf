"""Moments as Kubernetes writes them."""

from datetime import UTC, datetime


def second(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def microsecond(at: float) -> str:
    """A Lease's times are finer than all others, and the server refuses them without the digits."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
