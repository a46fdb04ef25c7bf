from nemutator_agent.credentials.pods.followed_secrets import FollowedSecrets
from nemutator_agent.credentials.rotation.watching import ChangeFeed
from nemutator_agent.credentials.vault.documents import Document, GivenLease
from nemutator_common.declarations import Reference

from tests.fakes.brokers import BrokerSetup
from tests.fakes.served_values import MemoryServed

DB = "secret/app/db"
DECLARED = {
    "word": Reference(DB, "password"),
    "all": Reference(DB),
}


def document(password: str, version: int, **more: str) -> Document:
    return Document.of({"password": password, **more}, version)


class Setup:
    def __init__(self, served: MemoryServed | None = None) -> None:
        self.broker = BrokerSetup()
        self.feed = ChangeFeed(self.broker.clock)
        self.followed = FollowedSecrets(
            self.broker.session(), changes=self.feed, audit=self.broker.audit, served=served
        )

    @property
    def announced(self) -> list[tuple[str, int | None]]:
        return [(change.name, change.version) for change in self.feed.log.after(0)]


def test_a_new_value_is_announced_and_recorded_for_each_name_that_was_read() -> None:
    setup = Setup()
    for name in ("word", "all"):
        setup.followed.read(name, DECLARED[name], document("one", 1))
    assert setup.announced == []
    assert not setup.followed.differs(DB, document("one", 1))
    assert setup.followed.differs(DB, document("two", 2))
    setup.followed.take(DB, document("two", 2))
    assert setup.announced == [("word", 2), ("all", 2)]
    rotated = [grant for grant in setup.broker.grants.all if grant.operation == "rotate"]
    assert [(grant.secret, grant.version, grant.result) for grant in rotated] == [
        ("word", 2, "granted"),
        ("all", 2, "granted"),
    ]
    assert all(grant.path_digest for grant in rotated)


def test_a_change_of_another_key_is_none_of_this_one() -> None:
    setup = Setup()
    setup.followed.read("word", DECLARED["word"], document("one", 1))
    assert not setup.followed.differs(DB, document("one", 2, user="api"))
    setup.followed.take(DB, document("one", 2, user="api"))
    assert setup.announced == []


def test_another_path_is_nobodys_change() -> None:
    setup = Setup()
    setup.followed.read("word", DECLARED["word"], document("one", 1))
    assert not setup.followed.differs("secret/other", document("two", 2))
    setup.followed.take("secret/other", document("two", 2))
    assert setup.announced == []


def test_a_key_that_is_gone_is_no_new_value() -> None:
    setup = Setup()
    setup.followed.read("word", DECLARED["word"], document("one", 1))
    gone = Document.of({"user": "api"}, 2)
    assert not setup.followed.differs(DB, gone)
    setup.followed.take(DB, gone)
    assert setup.announced == []


def test_half_a_character_is_followed_like_any_other_value() -> None:
    setup = Setup()
    setup.followed.read("word", DECLARED["word"], document("a\ud800", 1))
    setup.followed.take(DB, document("a", 2))
    assert setup.announced == [("word", 2)]


def test_a_file_of_several_values_changes_with_each_of_them() -> None:
    setup = Setup()
    user = Reference("secret/app/user", "user")
    setup.followed.read("env", DECLARED["word"], document("one", 1))
    setup.followed.read("env", user, Document.of({"user": "api"}, 1))
    setup.followed.take(DB, document("two", 2))
    setup.followed.take("secret/app/user", Document.of({"user": "web"}, 3))
    assert setup.announced == [("env", 3)]
    assert len(setup.broker.grants.of("rotate")) == 2


def test_no_value_is_kept() -> None:
    setup = Setup()
    setup.followed.read("word", DECLARED["word"], document("hunter2", 1))
    assert "hunter2" not in str(setup.followed)


def test_a_change_while_this_process_was_away_is_one() -> None:
    served = MemoryServed()
    Setup(served).followed.read("word", DECLARED["word"], document("one", 1))
    same = Setup(served)
    same.followed.read("word", DECLARED["word"], document("one", 2))
    assert (same.announced, same.followed.is_unsettled) == ([], False)
    setup = Setup(served)
    assert list(setup.followed.before) == [("word", str(DECLARED["word"]))]
    setup.followed.read("word", DECLARED["word"], document("two", 2))
    setup.followed.read("word", DECLARED["word"], document("two", 2))
    assert setup.announced == [("word", 2)]
    assert setup.broker.grants.of("rotate") == ["granted"]


def test_it_stays_one_until_something_was_done_about_it() -> None:
    served = MemoryServed()
    Setup(served).followed.read("word", DECLARED["word"], document("one", 1))
    killed, setup = Setup(served), Setup(served)
    for run in (killed, setup):
        run.followed.read("word", DECLARED["word"], document("two", 2))
        assert (len(run.announced), run.followed.is_unsettled) == (1, True)
    settle = setup.followed.settling()
    assert not setup.followed.is_unsettled
    # What changes while the signal is sent needs another one.
    setup.followed.take(DB, document("three", 3))
    settle()
    assert setup.followed.is_unsettled
    for value, changes in (("two", 0), ("three", 1)):
        later = Setup(served)
        later.followed.read("word", DECLARED["word"], document(value, 2))
        assert len(later.announced) == changes


def test_a_value_that_came_back_while_this_process_was_away_is_no_change() -> None:
    served = MemoryServed()
    first = Setup(served)
    for value in ("one", "two"):
        first.followed.read("word", DECLARED["word"], document(value, 1))
    assert len(first.announced) == 1
    later = Setup(served)
    later.followed.read("word", DECLARED["word"], document("one", 3))
    assert later.announced == []


def test_what_vault_lends_anew_after_a_restart_is_no_change() -> None:
    served = MemoryServed()
    lease = GivenLease("l", 60.0, renewable=True)
    setup = Setup(served)
    for value, at in (("one", Setup(served)), ("two", setup)):
        lent = Document.of({"password": value}, None, lease=lease)
        at.followed.read("word", DECLARED["word"], lent)
        assert at.announced == []
    setup.followed.read("word", DECLARED["word"], document("three", 1))
    assert setup.followed.is_unsettled
    setup.followed.settling()()
    assert list(setup.followed.before) == [("word", str(DECLARED["word"]))]
