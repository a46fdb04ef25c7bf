"""The store under every test of the client: versions, history and moments of the past."""

from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.kube.kinds import CONFIG_MAPS, PODS
from tests.fakes.kube.store import Json, Store, key_of

writes = st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=20)


def state(manifests: list[Json]) -> dict[str, str]:
    return {key_of(manifest)[1]: manifest["metadata"]["resourceVersion"] for manifest in manifests}


def write(store: Store, name: str, keep: bool) -> None:
    if keep:
        store.put(PODS, {"metadata": {"namespace": "x", "name": name}})
    elif store.get(PODS, "x", name):
        store.remove(PODS, "x", name)


@given(writes)
def test_every_moment_since_the_oldest_can_be_seen_again(steps: list[tuple[str, bool]]) -> None:
    store = Store()
    moments = {store.version: state(store.all(PODS))}
    for name, keep in steps:
        write(store, name, keep)
        moments[store.version] = state(store.all(PODS))
    assert {version: state(store.at(PODS, version)) for version in moments} == moments


@given(writes, writes)
def test_changes_after_a_version_lead_from_then_to_now(
    before: list[tuple[str, bool]], after: list[tuple[str, bool]]
) -> None:
    store = Store()
    for name, keep in before:
        write(store, name, keep)
    version, folded = store.version, state(store.all(PODS))
    for name, keep in after:
        write(store, name, keep)
    seen = version
    for change in store.changes_after(PODS, version):
        assert change.version > seen
        seen = change.version
        name = key_of(change.object)[1]
        assert (change.previous is None) == (change.type == "ADDED") == (name not in folded)
        if change.type == "DELETED":
            del folded[name]
        else:
            folded[name] = change.object["metadata"]["resourceVersion"]
    assert folded == state(store.all(PODS))


def test_what_is_put_is_a_copy() -> None:
    store, manifest = Store(), {"metadata": {"name": "a", "labels": {"x": "1"}}}
    stored = store.put(CONFIG_MAPS, manifest)
    manifest["metadata"]["labels"] = {"x": "2"}
    assert stored["metadata"]["labels"] == {"x": "1"}
    assert "resourceVersion" not in manifest["metadata"]


def test_compacting_moves_the_oldest_version_to_now() -> None:
    store = Store()
    store.put(CONFIG_MAPS, {"metadata": {"name": "a"}})
    assert store.oldest(CONFIG_MAPS) == 0
    store.compact()
    assert store.oldest(CONFIG_MAPS) == store.oldest(PODS) == store.version
