"""Names that a compiler of C++ has mangled by the Itanium ABI, as c++filt shows them.

What is rare in functions that run (concepts, modules, vectors in expressions) is not known here: such
a name stays as it is. A part may stand for others again and again, so all texts are bounded.
"""

from dataclasses import dataclass

from nemutator_agent.profiler.symbols.demangled import itanium_types as types
from nemutator_agent.profiler.symbols.demangled.cursor import (
    Cursor,
    NotMangledError,
    Spend,
    bounded,
)
from nemutator_agent.profiler.symbols.demangled.itanium_types import CppPack, CppType, Value
from nemutator_agent.profiler.symbols.demangled.itanium_words import (
    BINARY,
    BUILTIN,
    LITERAL,
    OPERATORS,
    SPECIAL,
    STANDARD,
    STANDARD_IN_FULL,
    UNARY,
)

_CV = {"r": " restrict", "V": " volatile", "K": " const"}
_BASE_36 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ANONYMOUS = "(anonymous namespace)"


@dataclass(frozen=True, slots=True)
class _Name:
    text: str
    returns: bool = False
    """Whether a function of this name has the type of what it returns before its parameters."""
    qualifiers: str = ""


def demangled(text: str, spend: Spend) -> str:
    """*text* begins with `_Z`. Raises NotMangledError."""
    parser = _Parser(text, spend)
    parser.expect("_Z")
    found = parser.encoding()
    while parser.skip("."):
        start = parser.at - 1
        while not parser.ended and parser.next != ".":
            parser.at += 1
        rest = text[start : parser.at]
        # Several copies of one function: `.part.0` is one word.
        if parser.skip("."):
            if parser.next.isdigit():
                rest += "." + parser.digits()
            else:
                parser.at -= 1
        found = bounded(f"{found} [clone {rest}]")
    if not parser.ended:
        raise NotMangledError
    return found


class _Parser(Cursor):
    def __init__(self, text: str, spend: Spend) -> None:
        super().__init__(text, spend)
        self._known: list[Value] = []
        """What the name may refer to again."""
        self._arguments: tuple[Value, ...] = ()
        """Those of the template that the name is of."""
        self._types = 0
        """The depth of types: the arguments of a template in a type are not those of the name."""
        self._lambdas = 0

    # --- functions -------------------------------------------------------------------------------
    def encoding(self, *, inner: bool = False) -> str:
        self.deeper()
        found = self._special() or self._function(inner=inner)
        self.higher()
        return found

    def _special(self) -> str:
        for code, words in SPECIAL.items():
            if self.skip(code):
                if code[0] == "T" and code in ("TV", "TT", "TI", "TS"):
                    return bounded(words + self.type().text)
                if code.startswith("GT"):
                    return bounded(words + self.encoding())
                return bounded(words + self._name().text)
        if self.skip("Th"):
            self._offset()
            return bounded("non-virtual thunk to " + self.encoding())
        if self.skip("Tv"):
            self._offset()
            self._offset()
            return bounded("virtual thunk to " + self.encoding())
        if self.skip("Tc"):
            for _ in range(2):
                if self.take() == "v":
                    self._offset()
                self._offset()
            return bounded("covariant return thunk to " + self.encoding())
        if self.skip("TC"):
            derived = self.type().text
            self.number()
            self.expect("_")
            return bounded(f"construction vtable for {self.type().text}-in-{derived}")
        if self.skip("GR"):
            name = self._name().text
            number = 0 if self.skip("_") else self._reference()
            return bounded(f"reference temporary #{number} for {name}")
        return ""

    def _offset(self) -> None:
        self.skip("n")
        self.number()
        self.expect("_")

    def _function(self, *, inner: bool) -> str:
        name = self._name()
        if self.ended or self.next in "E.":
            return name.text
        return self._declared(name, inner=inner)

    def _declared(self, name: _Name, *, inner: bool = False) -> str:
        """With its parameters, and with what it returns where that is known and it is no *inner* one."""
        returned = self.type() if name.returns else None
        text = bounded(f"{name.text}({self._parameters()}){name.qualifiers}")
        if not isinstance(returned, CppType) or inner:
            return text
        return returned.around(text)

    def _parameters(self) -> str:
        found: list[Value] = []
        while not self.ended and self.next not in "E.":
            if self.next in "RO" and self.text[self.at + 1 : self.at + 2] == "E":
                break
            found.append(self.type())
        if not found:
            raise NotMangledError
        texts = types.spread(found)
        return "" if texts == ["void"] else bounded(", ".join(texts))

    # --- names -----------------------------------------------------------------------------------
    def _name(self) -> _Name:
        self.deeper()
        if self.skip("N"):
            found = self._nested()
        elif self.skip("Z"):
            found = self._local()
        else:
            found = self._unscoped()
        self.higher()
        return found

    def _unscoped(self) -> _Name:
        known = True
        returns = False
        if self.skip("St"):
            text, returns = self._unqualified("")
            text = f"std::{text}"
        elif self.next == "S":
            text, known = self._substitution().text, False
        else:
            text, returns = self._unqualified("")
        if self.next != "I":
            return _Name(text)
        if known:
            self._learn(CppType(text))
        return _Name(types.templated(text, self._template_arguments()), returns)

    def _nested(self) -> _Name:
        qualifiers = self._cv()
        if self.skip("R"):
            qualifiers += " &"
        elif self.skip("O"):
            qualifiers += " &&"
        value: Value | None = None
        returns = templated = False
        while not self.skip("E"):
            text = value.text if value is not None else ""
            learn = True
            if self.next == "S" and not text:
                if self.skip("St"):
                    value, learn = CppType("std"), False
                else:
                    value, learn = self._standard_or_known(), False
            elif self.next == "T" and not text:
                value = self._parameter()
            elif self.next == "I" and text:
                value = CppType(types.templated(text, self._template_arguments()))
                templated = True
            elif self.text.startswith(("Dt", "DT"), self.at) and not text:
                value = self._decltype()
            elif self.skip("M"):
                continue
            else:
                one, returns = self._unqualified(text)
                value = CppType(bounded(f"{text}::{one}" if text else one))
                templated = False
            if learn and self.next != "E":
                self._learn(value)
        if value is None:
            raise NotMangledError
        return _Name(value.text, returns and templated, qualifiers)

    def _standard_or_known(self) -> Value:
        """At the head of a nested name, where a constructor needs the class's own name."""
        letter = self.text[self.at + 1 : self.at + 2]
        if letter in STANDARD_IN_FULL and self.text[self.at + 2 : self.at + 3] in ("C", "D"):
            self.at += 2
            return CppType(STANDARD_IN_FULL[letter])
        return self._substitution()

    def _local(self) -> _Name:
        around, self._types = (self._arguments, self._types), 0
        found = self._in_function()
        if around[1]:
            self._arguments, self._types = around
        return found

    def _in_function(self) -> _Name:
        outer = self.encoding(inner=True)
        self.expect("E")
        if self.skip("s"):
            self._discriminator()
            return _Name(bounded(f"{outer}::string literal"))
        default = ""
        if self.skip("d"):
            number = self._number_from_one()
            default = f"{{default arg#{number}}}::"
        name = self._name()
        self._discriminator()
        return _Name(bounded(f"{outer}::{default}{name.text}"), name.returns, name.qualifiers)

    def _discriminator(self) -> None:
        if self.skip("__"):
            self.number()
            self.expect("_")
        elif self.skip("_"):
            self.number()

    def _unqualified(self, owner: str) -> tuple[str, bool]:
        """The name, and whether a template of it returns something that is in its encoding. *owner* is
        what stands before it."""
        returns = True
        self.skip("F")
        self.skip("L")
        letter = self.next
        if letter.isdigit():
            text = self._source()
        elif letter == "C" and owner:
            self.at += 1
            if self.skip("I"):
                self.take()
                self.type()
            elif self.take() not in "12345":
                raise NotMangledError
            text, returns = types.last_name(owner), False
        elif letter == "D" and owner and self.text[self.at + 1 : self.at + 2] in tuple("01245"):
            self.at += 2
            text, returns = f"~{types.last_name(owner)}", False
        elif self.skip("DC"):
            parts = []
            while not self.skip("E"):
                parts.append(self._source())
            text = f"[{', '.join(parts)}]"
        elif self.skip("Ut"):
            text = f"{{unnamed type#{self._number_from_one()}}}"
        elif self.skip("Ul"):
            text = self._lambda()
        else:
            text, returns = self._operator()
        while self.skip("B"):
            text = bounded(f"{text}[abi:{self._source()}]")
        return text, returns

    def _lambda(self) -> str:
        self._lambdas += 1
        parameters = self._parameters()
        self._lambdas -= 1
        self.expect("E")
        return f"{{lambda({parameters})#{self._number_from_one()}}}"

    def _number_from_one(self) -> int:
        if self.skip("_"):
            return 1
        number = self.number() + 2
        self.expect("_")
        return number

    def _operator(self) -> tuple[str, bool]:
        code = self.characters(2)
        if code == "cv":
            return f"operator {self.type().text}", False
        if code == "li":
            return f'operator"" {self._source()}', True
        if code not in OPERATORS:
            raise NotMangledError
        return f"operator{OPERATORS[code]}", True

    def _source(self) -> str:
        text = self.characters(self.number())
        return _ANONYMOUS if text.startswith("_GLOBAL__N_") else text

    # --- what was named before -------------------------------------------------------------------
    def _learn(self, value: Value) -> None:
        self._known.append(value)

    def _substitution(self) -> Value:
        self.expect("S")
        if self.next in STANDARD and self.next:
            found: Value = CppType(STANDARD[self.take()])
        else:
            number = 0 if self.skip("_") else self._reference()
            if number >= len(self._known):
                raise NotMangledError
            found = self._known[number]
        while self.skip("B"):
            found = CppType(bounded(f"{found.text}[abi:{self._source()}]"))
        return found

    def _reference(self) -> int:
        digits = self.digits(_BASE_36)
        self.expect("_")
        if not 0 < len(digits) <= 4:
            raise NotMangledError
        return int(digits, 36) + 1

    def _parameter(self) -> Value:
        self.expect("T")
        number = 0
        if not self.skip("_"):
            number = self.number() + 1
            self.expect("_")
        if self._lambdas:
            return CppType(f"auto:{number + 1}")
        if number >= len(self._arguments):
            raise NotMangledError
        return self._arguments[number]

    # --- templates -------------------------------------------------------------------------------
    def _template_arguments(self) -> list[str]:
        self.expect("I")
        found: list[Value] = []
        while not self.skip("E"):
            found.append(self._template_argument())
        if not self._types:
            self._arguments = tuple(found)
        return types.spread(found)

    def _template_argument(self) -> Value:
        self.deeper()
        self._types += 1
        found: Value
        if self.skip("L"):
            found = CppType(self._literal())
        elif self.skip("X"):
            found = CppType(self._expression())
            self.expect("E")
        elif self.skip("J"):
            items: list[CppType] = []
            while not self.skip("E"):
                one = self._template_argument()
                items += one.items if isinstance(one, CppPack) else (one,)
            found = CppPack(tuple(items))
        else:
            found = self.type()
        self._types -= 1
        self.higher()
        return found

    def _literal(self) -> str:
        if self.skip("_Z") or self.skip("Z"):
            found = self.encoding()
            self.expect("E")
            return found
        kind = self.type().text
        sign = "-" if self.skip("n") else ""
        value = self.digits("0123456789abcdef_")
        self.expect("E")
        if kind == "bool" and value in ("0", "1"):
            return "true" if value == "1" else "false"
        if kind in LITERAL:
            return f"{sign}{value}{LITERAL[kind]}"
        if kind in ("float", "double", "long double"):
            value = f"[{value}]"
        return f"({kind}){sign}{value}"

    # --- types -----------------------------------------------------------------------------------
    def type(self) -> Value:
        self.deeper()
        self._types += 1
        found = self._type()
        self._types -= 1
        self.higher()
        return found

    def _type(self) -> Value:
        letter = self.next
        if letter in _CV and letter:
            words = self._cv()
            return self._learnt(types.each(self.type(), lambda one: types.qualified(one, words)))
        if letter in ("P", "R", "O"):
            self.at += 1
            sign = {"P": "*", "R": "&", "O": "&&"}[letter]
            return self._learnt(types.each(self.type(), lambda one: types.pointed(one, sign)))
        if letter == "S" and not self.text.startswith("St", self.at):
            return self._with_arguments(self._substitution(), learn=False)
        if letter == "T" and self.text[self.at + 1 : self.at + 2] not in ("s", "u", "e"):
            return self._with_arguments(self._parameter(), learn=True)
        for size in (1, 2):
            code = self.text[self.at : self.at + size]
            if code in BUILTIN:
                self.at += size
                return CppType(BUILTIN[code])
        return self._learnt(self._other_type())

    def _other_type(self) -> Value:
        if self.next == "F" or self.text.startswith(("Do", "DO", "Dw", "Dx"), self.at):
            return self._function_type()
        if self.skip("A"):
            size = self.digits() if self.next.isdigit() or self.next == "_" else self._expression()
            self.expect("_")
            return types.each(self.type(), lambda one: types.array(one, size))
        if self.skip("M"):
            owner = self.type().text
            return types.each(self.type(), lambda one: types.member(one, owner))
        if self.skip("Dp"):
            inner = self.type()
            return inner if isinstance(inner, CppPack) else CppType(f"{inner.text}...")
        if self.text.startswith(("Dt", "DT"), self.at):
            return self._decltype()
        if self.skip("Dv"):
            size = self.digits()
            self.expect("_")
            return CppType(bounded(f"{self.type().text} __vector({size})"))
        if self.skip("DF"):
            size = self.digits()
            end = "x" if self.skip("x") else ""
            if not end:
                self.expect("_")
            return CppType(f"_Float{size}{end}")
        if self.skip("u"):
            return CppType(self._source())
        if self.skip("U"):
            words = " " + self._source()
            if self.next == "I":
                words = types.templated(words, self._template_arguments())
            return types.each(self.type(), lambda one: types.qualified(one, words))
        if self.skip("C"):
            return CppType(f"{self.type().text} _Complex")
        if self.skip("Ts") or self.skip("Tu") or self.skip("Te"):
            return CppType(self._name().text)
        if self.text.startswith(("D", "G")):
            raise NotMangledError
        return CppType(self._name().text)

    def _function_type(self) -> Value:
        noexcept = self.skip("Do")
        self.skip("Dx")
        self.expect("F")
        self.skip("Y")
        returned = self.type()
        parameters = self._parameters()
        qualifiers = " &" if self.skip("R") else " &&" if self.skip("O") else ""
        self.expect("E")
        words = qualifiers + (" noexcept" if noexcept else "")
        return types.each(
            returned, lambda one: types.qualified(types.function(one, parameters), words)
        )

    def _learnt(self, value: Value) -> Value:
        self._learn(value)
        return value

    def _with_arguments(self, value: Value, *, learn: bool) -> Value:
        if learn:
            self._learn(value)
        if self.next != "I":
            return value
        return self._learnt(CppType(types.templated(value.text, self._template_arguments())))

    def _cv(self) -> str:
        letters = self.digits("rVK")
        return "".join(_CV[letter] for letter in reversed(letters))

    def _decltype(self) -> Value:
        self.at += 2
        expression = self._expression()
        self.expect("E")
        return CppType(bounded(f"decltype ({expression})"))

    # --- expressions -----------------------------------------------------------------------------
    def _expression(self) -> str:
        self.deeper()
        self._types += 1
        found = bounded(self._one_expression())
        self._types -= 1
        self.higher()
        return found

    def _one_expression(self) -> str:
        if self.skip("L"):
            return self._literal()
        if self.next == "T":
            return self._parameter().text
        if self.next.isdigit():
            return self._unresolved()
        code = self.characters(2)
        if code == "fp":
            self._cv()
            return f"{{parm#{self._number_from_one()}}}"
        if code == "sr":
            # A plain name is none that can be referred to later.
            owner = self._unresolved() if self.next.isdigit() else self.type().text
            return f"{owner}::{self._unresolved()}"
        if code in ("cl", "tl", "il"):
            return self._call(code)
        if code == "cv":
            kind = self.type().text
            return f"({kind}){self._sub_expression()}"
        if code == "st":
            return f"sizeof ({self.type().text})"
        if code in ("sz", "nx"):
            return f"{'sizeof' if code == 'sz' else 'noexcept'} {self._sub_expression()}"
        if code == "sZ":
            pack = self._parameter()
            return str(len(pack.items)) if isinstance(pack, CppPack) else f"sizeof...({pack.text})"
        if code == "sp":
            return self._expression()
        if code in ("dt", "pt"):
            return f"{self._sub_expression()}{'.' if code == 'dt' else '->'}{self._unresolved()}"
        if code == "ix":
            return f"{self._sub_expression()}[{self._expression()}]"
        if code == "qu":
            parts = [self._sub_expression() for _ in range(3)]
            return f"{parts[0]}?{parts[1]} : {parts[2]}"
        if code == "ad" and self.skip("L_Z"):
            return self._address()
        if code in UNARY:
            return f"{OPERATORS[code]}{self._sub_expression()}"
        if code in BINARY:
            left, right = self._sub_expression(), self._sub_expression()
            text = f"{left}{OPERATORS[code]}{right}"
            return f"({text})" if code == "gt" else text
        raise NotMangledError

    def _address(self) -> str:
        """Of a function; a member's is shown as its name alone."""
        is_member = self.next == "N"
        name = self._name()
        text = name.text
        if self.next != "E":
            text = self._declared(name)
            text = name.text if is_member and not name.returns else f"({text})"
        self.expect("E")
        return f"&{text}"

    def _sub_expression(self) -> str:
        plain = self.next.isdigit() or self.text.startswith(("fp", "sr", "tl", "il"), self.at)
        text = self._expression()
        return text if plain else f"({text})"

    def _call(self, code: str) -> str:
        head = ""
        if code == "cl":
            head = self._sub_expression()
        elif code == "tl":
            head = self.type().text
        arguments = []
        while not self.skip("E"):
            arguments.append(self._expression())
        inside = ", ".join(arguments)
        return f"{head}({inside})" if code == "cl" else f"{head}{{{inside}}}"

    def _unresolved(self) -> str:
        text, _ = self._unqualified("")
        return types.templated(text, self._template_arguments()) if self.next == "I" else text
