from pathlib import Path

from nemutator_common.data_directory import DataDirectory


def test_all_that_is_shared_lies_in_the_directory() -> None:
    directory = DataDirectory(Path("/data"))
    assert directory.socket("brain") == Path("/data/brain.sock")
    places = (directory.lock, directory.database, directory.link_token, directory.objects)
    assert {place.parent for place in places} == {directory.root}
    assert len(set(places)) == 4
