from nemutator_common import names


def test_the_names_of_one_kind_come_in_the_order_of_their_file() -> None:
    assert names.declared(names.Word)[0] is names.INJECT
    assert names.declared(names.Key)[0] is names.REQUEST
    assert names.declared(names.Metric)[0] is names.HTTP_REQUESTS
    assert not set(names.declared(names.Word)) & set(names.declared(names.Key))
