from nemutator_controller.settings.lists import separated


def test_names_stand_between_commas_and_nothing_is_no_name() -> None:
    assert separated(" a,b , ,c,") == ("a", "b", "c")
    assert separated("") == ()
