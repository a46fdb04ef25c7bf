from nemutator_controller.access.permissions import Permission


def test_a_permission_reads_as_an_administrator_writes_it() -> None:
    assert str(Permission("update", "mutations")) == "update mutations.nemutator.io"
