from tests.testbed.building.npm_packages import integrity_of


def test_the_integrity_of_a_file_is_written_as_npm_writes_it() -> None:
    nothing = "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=="
    assert integrity_of(b"") == nothing
