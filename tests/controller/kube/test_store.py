"""Folding: the same picture as a plain dict, snapshots that never change, indexes that agree."""

import json
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.kube.decoder import Decoder
from nemutator_controller.kube.objects import Object, Pod
from nemutator_controller.kube.store import (
    Change,
    PartedMap,
    Store,
)

from tests.controller.kube.pods import pod
from tests.fakes.kube.indexes import by_namespace, by_node, by_owner

DECODER = Decoder(Pod)
INDEXES = {"node": by_node, "namespace": by_namespace, "owner": by_owner}


def manifest(name: str, version: int = 1, *, uid: str = "", node: str = "", owner: str = "") -> Pod:
    made = pod(name, version, uid=uid, nodeName=node)
    if owner:
        made["metadata"]["ownerReferences"] = [{"kind": "ReplicaSet", "name": "r", "uid": owner}]
    return DECODER.object(json.dumps(made).encode())


def store() -> Store[Pod]:
    return Store(INDEXES)


@dataclass
class Follower:
    """What a subscriber that folds all changes would have; it notices any that cannot be."""

    objects: dict[str, Pod] = field(default_factory=dict)

    def fold(self, changes: list[Change[Pod]] | tuple[Change[Pod], ...]) -> None:
        for change in changes:
            assert self.objects.get(change.key) == change.before
            if change.after is None:
                del self.objects[change.key]
            else:
                self.objects[change.key] = change.after


def test_the_same_event_twice_changes_nothing() -> None:
    picture = store()
    assert len(picture.put(manifest("a", 3))) == 1
    assert picture.put(manifest("a", 3)) == ()
    assert len(picture.put(manifest("a", 4))) == 1


def test_a_snapshot_has_the_same_values_and_items_as_a_dict() -> None:
    picture = store()
    for number in range(30):
        picture.put(manifest(f"pod-{number}", number + 1))
    objects = picture.snapshot().objects
    plain = {key: objects[key] for key in objects}
    assert len(objects) == len(objects.values()) == len(objects.items()) == 30
    assert [*objects.items()] == [*plain.items()]
    assert [*objects.values()] == [*plain.values()]
    one = objects["team/pod-7"]
    assert one in objects.values()
    assert ("team/pod-7", one) in objects.items()
    assert ("team/pod-8", one) not in objects.items()


def test_the_same_name_with_another_uid_went_and_came() -> None:
    picture = store()
    picture.put(manifest("a", 3, uid="1"))
    went, came = picture.put(manifest("a", 9, uid="2"))
    assert (went.after, came.before) == (None, None)


def test_deleting_what_is_not_there_changes_nothing() -> None:
    assert store().remove("team/none") == ()


def test_a_snapshot_never_changes() -> None:
    picture = store()
    picture.put(manifest("a", 1, node="n1"))
    before = picture.snapshot()
    picture.put(manifest("a", 2, node="n2"))
    picture.put(manifest("b", 3, node="n1"))
    picture.remove("team/a")
    assert [*before.objects] == ["team/a"]
    assert [found.metadata.resource_version for found in before.by("node", "n1")] == ["1"]
    assert [*before.by("node", "n2")] == []
    after = picture.snapshot()
    assert [found.metadata.name for found in after.by("node", "n1")] == ["b"]


def test_a_snapshot_is_the_same_one_until_something_is_written() -> None:
    picture = store()
    picture.put(manifest("a", 1))
    first = picture.snapshot()
    picture.put(manifest("a", 1))
    picture.remove("default/absent")
    assert picture.snapshot() is first
    picture.put(manifest("b", 2))
    second = picture.snapshot()
    assert second is not first
    assert len(second) == 2
    picture.resource_version = "3"
    assert picture.snapshot().resource_version == "3"
    picture.remove(manifest("b", 2).metadata.key)
    assert len(picture.snapshot()) == 1


def test_a_snapshot_has_nothing_in_the_place_of_what_is_not_there() -> None:
    picture = store()
    picture.put(manifest("a", 1))
    objects = picture.snapshot().objects
    assert objects.find("absent/pod") is None
    assert objects.find(manifest("a", 1).metadata.key) == manifest("a", 1)


def test_a_replacement_is_seen_at_once_or_not_at_all() -> None:
    picture = store()
    picture.put(manifest("a"))
    picture.put(manifest("b"))
    picture.resource_version = "2"
    replacement = picture.replacing()
    replacement.offer(manifest("a", 5))
    replacement.offer(manifest("c", 6))
    assert [*sorted(picture.snapshot().objects)] == ["team/a", "team/b"]
    changes = replacement.commit("9")
    assert sorted(change.key for change in changes) == ["team/a", "team/b", "team/c"]
    assert (picture.resource_version, len(picture)) == ("9", 2)


def test_what_a_replacement_keeps_is_not_gone() -> None:
    picture = store()
    picture.put(manifest("a"))
    picture.resource_version = "2"
    replacement = picture.replacing()
    replacement.keep("team/a")
    assert replacement.commit("3") == []
    assert picture.snapshot().get("team", "a") == manifest("a")


def test_what_went_while_the_list_was_on_its_way_is_gone() -> None:
    picture = store()
    picture.put(manifest("a"))
    picture.resource_version = "2"
    replacement = picture.replacing()
    replacement.offer(manifest("a", 5))
    replacement.offer(manifest("b", 6))
    for name in "ab":
        replacement.withdraw(f"team/{name}")
    assert [change.after for change in replacement.commit("9")] == [None]
    assert len(picture) == 0


def test_owners_find_their_objects() -> None:
    picture = store()
    picture.put(manifest("a", owner="rs-1"))
    assert [found.metadata.name for found in picture.snapshot().by("owner", "rs-1")] == ["a"]
    nothing = Store[Object]({"node": by_node})
    nothing.put(Object(manifest("a").metadata))
    assert [*nothing.snapshot().by("node", "")] == []


names = st.sampled_from("abcdefgh")
nodes = st.sampled_from(["", "n1", "n2"])
steps = st.one_of(
    st.tuples(st.just("put"), names, st.integers(1, 5), st.sampled_from("xy"), nodes),
    st.tuples(st.just("remove"), names),
    st.tuples(st.just("look")),
    st.tuples(st.just("relist"), st.dictionaries(names, st.tuples(st.integers(1, 5), nodes))),
)


@given(st.lists(steps, max_size=40))
def test_folding_equals_a_plain_dict(script: list[tuple[object, ...]]) -> None:
    picture, follower = store(), Follower()
    picture.resource_version = "1"
    model: dict[str, Pod] = {}
    looks: list[tuple[object, dict[str, Pod]]] = []
    for step in script:
        match step:
            case "put", str(name), int(version), str(uid), str(node):
                new = manifest(name, version, uid=uid, node=node)
                old = model.get(f"team/{name}")
                if not old or (old.metadata.resource_version, old.metadata.uid) != (
                    str(version),
                    uid,
                ):
                    model[f"team/{name}"] = new
                follower.fold(picture.put(new))
            case "remove", str(name):
                model.pop(f"team/{name}", None)
                follower.fold(picture.remove(f"team/{name}"))
            case "relist", dict(found):
                replacement = picture.replacing()
                there = {f"team/{n}": manifest(n, v + 100, node=w) for n, (v, w) in found.items()}
                for new in there.values():
                    replacement.offer(new)
                same = {k: model[k] for k in there.keys() & model.keys()
                        if model[k].metadata.resource_version == there[k].metadata.resource_version
                        and model[k].metadata.uid == there[k].metadata.uid}  # fmt: skip
                model = {**there, **same}
                follower.fold(replacement.commit("2"))
            case _:
                looks.append((picture.snapshot(), dict(model)))
    looks.append((picture.snapshot(), dict(model)))
    assert follower.objects == model
    for snapshot, then in looks:
        assert dict(snapshot.objects) == then  # type: ignore[attr-defined]
        for index, function in INDEXES.items():
            values = {value for one in then.values() for value in function(one)}
            for value in values:
                found_now = {one.metadata.key for one in snapshot.by(index, value)}  # type: ignore[attr-defined]
                assert found_now == {key for key, one in then.items() if value in function(one)}


@given(st.lists(st.tuples(st.text(max_size=2), st.booleans())))
def test_a_parted_map_counts_what_it_has(script: list[tuple[str, bool]]) -> None:
    parted: PartedMap[int] = PartedMap()
    plain: dict[str, int] = {}
    for number, (key, keep) in enumerate(script):
        if keep:
            parted.put(key, number)
            plain[key] = number
        else:
            parted.remove(key)
            plain.pop(key, None)
        frozen = parted.frozen()
        assert dict(frozen) == plain
        assert len(frozen) == len(parted) == len(plain)
    assert set(parted.keys()) == set(plain)
