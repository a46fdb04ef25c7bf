"""The journal's adapters meet the same API servers as our client does."""

from tests.contract.kube.conftest import client, place, variant

__all__ = ["client", "place", "variant"]
