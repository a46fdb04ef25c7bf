import pytest
from nemutator_agent.inspection.identities import FileId
from nemutator_agent.profiler.symbols import learnt_names
from nemutator_agent.profiler.symbols.learnt_names import LearntFile, LearntNames, LearntPlace
from nemutator_agent.profiler.symbols.mappings import Mapping
from nemutator_agent.profiler.symbols.messages import SymbolAnswer, SymbolQuestion
from nemutator_common.profiles.model import Binary, Frame

FILE = FileId(1, 7, 100, 5)
REPLACED = FILE._replace(changed_ns=6)
MAIN = Frame("main.main")


@pytest.fixture
def learnt() -> LearntNames:
    learnt = LearntNames()
    question = SymbolQuestion(False, places=(16, 32, 48), depths=(32,))
    learnt.learn_places(FILE, question, SymbolAnswer((MAIN,), ((0,), (0,), None), depths=(24,)))
    return learnt


def test_what_was_answered_is_not_asked_again(learnt: LearntNames) -> None:
    assert learnt.place(FILE, 16, with_depth=False) == LearntPlace((MAIN,), None)
    assert learnt.place(FILE, 48, with_depth=False) == LearntPlace(None, None)
    assert learnt.place(FILE, 64, with_depth=False) is None
    assert learnt.place(REPLACED, 16, with_depth=False) is None


def test_a_depth_that_was_not_asked_for_is_not_known(learnt: LearntNames) -> None:
    assert learnt.place(FILE, 16, with_depth=True) is None
    assert learnt.place(FILE, 32, with_depth=True) == LearntPlace((MAIN,), 24)


def test_the_place_that_nobody_wanted_for_longest_is_forgotten(learnt: LearntNames) -> None:
    assert learnt.place(FILE, 16, with_depth=False)
    places = tuple(range(1000, 1000 + learnt_names.MOST_PLACES - 1))
    answer = SymbolAnswer(places=(None,) * len(places))
    learnt.learn_places(FILE, SymbolQuestion(False, places=places), answer)
    assert learnt.place(FILE, 16, with_depth=False)
    assert learnt.place(FILE, 32, with_depth=False) is None


def test_files_are_bounded_and_found_by_what_they_were(learnt: LearntNames) -> None:
    learnt.learn_file(FILE, SymbolAnswer(text=(0, 64), build_id="beef"))
    assert learnt.file(FILE) == LearntFile((0, 64), (), "beef", 0)
    assert learnt.file(REPLACED) is None
    for inode in range(learnt_names.MOST_FILES):
        learnt.learn_file(FILE._replace(inode=1000 + inode), SymbolAnswer())
    assert learnt.file(FILE) is None


def test_a_mapping_is_shown_at_the_addresses_of_the_file_itself() -> None:
    mapping = Mapping(0x5500_0000_1000, 0x5500_0000_3000, 0x1000, 7, "/srv/app")
    about = LearntFile(build_id="beef", shift=0x40_0000)
    assert about.mapped(mapping) == Binary("/srv/app", "beef", 0x40_1000, 0x40_3000, 0x1000)
