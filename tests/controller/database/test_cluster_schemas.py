import string

from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.database.cluster_schemas import cluster_of, schema_of
from nemutator_controller.setting_checks import LONGEST_CLUSTER_NAME, cluster_name

NAMES = st.text(string.ascii_lowercase + string.digits + "-", min_size=1).filter(
    lambda one: cluster_name(one) is None
)


@given(NAMES)
def test_a_name_comes_back_from_its_schema(name: str) -> None:
    assert cluster_of(schema_of(name)) == name
    # PostgreSQL cuts at 63.
    assert len(schema_of(name).encode()) <= 63


@given(NAMES, NAMES)
def test_two_names_have_two_schemas(one: str, other: str) -> None:
    assert (schema_of(one) == schema_of(other)) == (one == other)


def test_what_is_not_ours_is_no_cluster() -> None:
    for schema in ("", "public", "nemutator_", "nemutatorx"):
        assert cluster_of(schema) is None
    assert schema_of("") == ""
    for name in ("A", "a_b", "-a", 'a"', "a" * (LONGEST_CLUSTER_NAME + 1), "a b"):
        assert cluster_name(name) is not None
    assert cluster_name("") is None
