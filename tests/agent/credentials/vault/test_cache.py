from nemutator_agent.credentials.vault.cache import (
    MOST_CACHED,
    MOST_CACHED_BYTES,
    CachedDenial,
    CachedDenials,
    CachedDocument,
    DocumentCache,
)
from nemutator_agent.credentials.vault.documents import Document
from nemutator_agent.credentials.vault.failures import VaultDeniedError


def cached(number: int) -> CachedDocument:
    return CachedDocument(Document.of({"n": number}, number), float(number))


def test_no_more_is_cached_than_a_pod_can_declare() -> None:
    cache = DocumentCache()
    for number in range(MOST_CACHED + 1):
        cache.put(f"secret/{number}", cached(number))
    assert len(cache) == MOST_CACHED
    assert "secret/0" not in cache


def test_what_is_cached_again_makes_no_room() -> None:
    cache = DocumentCache()
    for number in range(MOST_CACHED):
        cache.put(f"secret/{number}", cached(number))
    cache.put("secret/5", cached(99))
    assert "secret/0" in cache
    assert cache["secret/5"].authorised == 99


def test_large_documents_push_out_older_ones() -> None:
    cache = DocumentCache()
    large = Document.of({"x": "é" * (MOST_CACHED_BYTES // 5)}, 1)
    for number in range(4):
        cache.put(f"secret/{number}", CachedDocument(large, 0.0))
    assert list(cache) == ["secret/2", "secret/3"]
    assert sum(one.document.size for one in cache.values()) <= MOST_CACHED_BYTES


def test_a_denial_is_another_one_each_time() -> None:
    """The same one would keep the frames of all who have caught it."""
    denial = CachedDenial(VaultDeniedError("no"), 1.0)
    again = denial.error.again()
    assert type(again) is VaultDeniedError
    assert again is not denial.error
    assert again.why == "no"


def test_no_more_denials_are_kept_than_documents() -> None:
    denials = CachedDenials()
    for number in range(MOST_CACHED + 1):
        denials.put(f"secret/{number}", CachedDenial(VaultDeniedError("no"), 1.0))
    assert len(denials) == MOST_CACHED
    assert "secret/0" not in denials
