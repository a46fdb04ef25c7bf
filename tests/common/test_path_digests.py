from nemutator_common.path_digests import DIGEST_HEX, path_digest
from nemutator_common.secret import Secret

KEY = Secret("k" * 32)


def test_equal_paths_have_one_digest_under_one_key_and_no_other() -> None:
    digest = path_digest(KEY, "secret/shop/db")
    assert digest == path_digest(KEY, "secret/shop/db")
    assert digest != path_digest(KEY, "secret/shop/d")
    assert digest != path_digest(Secret("l" * 32), "secret/shop/db")
    assert len(digest) == DIGEST_HEX


def test_a_path_that_is_not_utf_8_has_one_too() -> None:
    assert path_digest(KEY, "secret/\udcff") != path_digest(KEY, "secret/?")
