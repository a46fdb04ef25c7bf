from nemutator_agent.credentials.vault.accounts import account
from nemutator_agent.credentials.vault.cache import CachedDocument
from nemutator_agent.credentials.vault.documents import Document, EngineMount
from nemutator_agent.credentials.vault.sessions import VaultSession
from nemutator_agent.publications import PublishedPod

POD = PublishedPod(namespace="shop", name="api-1", uid="u-1", service_account="api")


def test_what_is_forgotten_is_looked_for_from_its_mount_on() -> None:
    session = VaultSession(account(POD, None))
    session.mounts["secret/"] = EngineMount("secret/", 2)
    session.cache.put("secret/a", CachedDocument(Document.of({"n": 1}, 1), 1.0))
    session.forget("secret/a")
    session.forget("secret/never-known")
    assert not session.cache
    assert not session.mounts


def test_a_mount_is_known_for_all_paths_below_it() -> None:
    session = VaultSession(account(POD, None))
    kv = session.mounts["secret/"] = EngineMount("secret/", 2)
    assert session.mount_of("secret/a") is session.mount_of("secret/data/b/c") is kv
    assert session.mount_of("secrets/a") is None
