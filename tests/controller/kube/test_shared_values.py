from nemutator_controller.kube.shared_values import shared, shared_texts


def test_equal_values_become_one() -> None:
    one, two = (tuple(letter * 20 for letter in "ab") for _ in range(2))
    assert one is not two
    assert shared(one) is shared(two)


def test_equal_mappings_become_one_and_others_do_not() -> None:
    one = shared_texts({"app": "web", "tier": "front"})
    assert shared_texts({"app": "web", "tier": "front"}) is one
    assert shared_texts({"app": "tier", "web": "front"}) == {"app": "tier", "web": "front"}
    assert shared_texts({}) == {}
