from nemutator_common import names


def test_no_role_begins_like_another() -> None:
    """Each role owns the environment variables that begin with its name."""
    parts = [f"{role}_" for role in names.ROLES]
    assert not any(a != b and a.startswith(b) for a in parts for b in parts)


def test_every_word_has_a_meaning() -> None:
    assert all(word.meaning for word in names.declared(names.Word))
