from nemutator_agent.inspection.identities import FileId
from nemutator_agent.profiler.symbols import call_checking
from nemutator_agent.profiler.symbols.call_checking import CallChecking
from nemutator_agent.profiler.symbols.mappings import Mapping
from nemutator_agent.profiler.symbols.messages import (
    MOST_ADDRESSES,
    SymbolAnswer,
    SymbolQuestion,
)
from nemutator_agent.profiler.symbols.wanted import MappedAddresses
from nemutator_common.profiles.grade import Verdict

FILE = FileId(1, 7, 1, 1)
APP = Mapping(0x1000, 0x9000, 0, 7, "/srv/app")


class Asked:
    """Answers so many questions, then none; every call is what *verdict* says."""

    def __init__(self, *, most: int = 100, verdict: Verdict = "direct") -> None:
        self.questions: list[SymbolQuestion] = []
        self._most, self._verdict = most, verdict

    async def __call__(self, question: SymbolQuestion) -> SymbolAnswer | None:
        if len(self.questions) == self._most:
            return None
        self.questions.append(question)
        return SymbolAnswer(calls=(self._verdict,) * len(question.calls))


def part(count: int) -> MappedAddresses:
    calls = {(0x1000 + one, 0x5000): (one, 0x4000) for one in range(count)}
    return MappedAddresses((1, 0), APP, calls=calls)


async def test_what_was_judged_is_not_asked_again() -> None:
    checking, asked = CallChecking(), Asked()
    first = await checking.verdicts(FILE, part(3), most=10, ask=asked)
    assert first == {(0x1000 + one, 0x5000): "direct" for one in range(3)}
    again = await checking.verdicts(FILE, part(4), most=10, ask=asked)
    assert len(again) == 4
    assert [one.calls for one in asked.questions] == [
        ((0, 0x4000), (1, 0x4000), (2, 0x4000)),
        ((3, 0x4000),),
    ]
    other = FileId(1, 8, 1, 1)
    await checking.verdicts(other, part(1), most=10, ask=asked)
    assert len(asked.questions) == 3


async def test_what_was_not_read_is_asked_again() -> None:
    checking = CallChecking()
    assert await checking.verdicts(FILE, part(1), most=9, ask=Asked(verdict="unread")) == {
        (0x1000, 0x5000): "unread"
    }
    assert len(await checking.verdicts(FILE, part(1), most=9, ask=Asked())) == 1


async def test_many_calls_are_many_questions_and_no_more_than_allowed() -> None:
    asked = Asked()
    found = await CallChecking().verdicts(FILE, part(MOST_ADDRESSES + 5), most=10_000, ask=asked)
    assert [len(one.calls) for one in asked.questions] == [MOST_ADDRESSES, 5]
    assert len(found) == MOST_ADDRESSES + 5
    assert len(await CallChecking().verdicts(FILE, part(9), most=2, ask=Asked())) == 2
    assert await CallChecking().verdicts(FILE, part(9), most=0, ask=Asked()) == {}


async def test_calls_are_left_where_no_more_may_be_asked() -> None:
    asked = Asked(most=1)
    found = await CallChecking().verdicts(FILE, part(MOST_ADDRESSES + 5), most=10_000, ask=asked)
    assert len(found) == MOST_ADDRESSES


async def test_the_oldest_are_forgotten() -> None:
    checking, asked = CallChecking(), Asked()
    await checking.verdicts(FILE, part(1), most=1, ask=asked)
    many = part(call_checking.MOST_CACHED + 1)
    del many.calls[0x1000, 0x5000]
    await checking.verdicts(FILE, many, most=len(many.calls), ask=asked)
    before = len(asked.questions)
    await checking.verdicts(FILE, part(1), most=1, ask=asked)
    assert len(asked.questions) == before + 1
