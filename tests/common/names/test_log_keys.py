import re
from collections import Counter

from nemutator_common.names import declared
from nemutator_common.names.log_keys import Key


def test_log_keys_are_distinct_snake_case_words_with_a_meaning() -> None:
    keys = declared(Key)
    assert [key for key, count in Counter(keys).items() if count > 1] == []
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", key) and key.meaning for key in keys)


def test_no_log_key_hides_a_fixed_part_of_the_line() -> None:
    assert {"time", "level", "event", "logger", "traceback"}.isdisjoint(declared(Key))


def test_a_key_is_its_own_name_in_a_line() -> None:
    key = Key("node", "which node")
    assert (key, key.meaning) == ("node", "which node")
    assert {key: 1} == {"node": 1}
