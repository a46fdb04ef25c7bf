"""The codes of the Itanium C++ ABI for types, operators and the names of the standard library."""

from types import MappingProxyType

BUILTIN = MappingProxyType(
    {
        "v": "void", "w": "wchar_t", "b": "bool", "c": "char", "a": "signed char",
        "h": "unsigned char", "s": "short", "t": "unsigned short", "i": "int", "j": "unsigned int",
        "l": "long", "m": "unsigned long", "x": "long long", "y": "unsigned long long",
        "n": "__int128", "o": "unsigned __int128", "f": "float", "d": "double",
        "e": "long double", "g": "__float128", "z": "...",
        "Dd": "decimal64", "De": "decimal128", "Df": "decimal32", "Dh": "half", "Di": "char32_t",
        "Ds": "char16_t", "Du": "char8_t", "Da": "auto", "Dc": "decltype(auto)",
        "Dn": "decltype(nullptr)",
    }
)  # fmt: skip

LITERAL = MappingProxyType(
    {"int": "", "unsigned int": "u", "long": "l", "unsigned long": "ul", "long long": "ll",
     "unsigned long long": "ull"}
)  # fmt: skip
"""What a number of this type ends with; one of another type has the type before it."""

STANDARD = MappingProxyType(
    {
        "t": "std", "a": "std::allocator", "b": "std::basic_string", "s": "std::string",
        "i": "std::istream", "o": "std::ostream", "d": "std::iostream",
    }
)  # fmt: skip

STANDARD_IN_FULL = MappingProxyType(
    {
        "s": "std::basic_string<char, std::char_traits<char>, std::allocator<char> >",
        "i": "std::basic_istream<char, std::char_traits<char> >",
        "o": "std::basic_ostream<char, std::char_traits<char> >",
        "d": "std::basic_iostream<char, std::char_traits<char> >",
    }
)
"""As they are written where one of their constructors or destructors follows, with its class's name."""

OPERATORS = MappingProxyType(
    {
        "nw": " new", "na": " new[]", "dl": " delete", "da": " delete[]", "aw": " co_await",
        "ng": "-", "ps": "+", "ad": "&", "de": "*", "co": "~", "pl": "+", "mi": "-", "ml": "*",
        "dv": "/", "rm": "%", "an": "&", "or": "|", "eo": "^", "aS": "=", "pL": "+=", "mI": "-=",
        "mL": "*=", "dV": "/=", "rM": "%=", "aN": "&=", "oR": "|=", "eO": "^=", "ls": "<<",
        "rs": ">>", "lS": "<<=", "rS": ">>=", "eq": "==", "ne": "!=", "lt": "<", "gt": ">",
        "le": "<=", "ge": ">=", "ss": "<=>", "nt": "!", "aa": "&&", "oo": "||", "pp": "++",
        "mm": "--", "cm": ",", "pm": "->*", "pt": "->", "cl": "()", "ix": "[]", "qu": "?",
    }
)  # fmt: skip

UNARY = frozenset({"ng", "ps", "ad", "de", "co", "nt"})
BINARY = frozenset(
    [
        "pl",
        "mi",
        "ml",
        "dv",
        "rm",
        "an",
        "or",
        "eo",
        "aS",
        "pL",
        "mI",
        "mL",
        "dV",
        "rM",
        "aN",
        "oR",
        "eO",
        "ls",
        "rs",
        "lS",
        "rS",
        "eq",
        "ne",
        "lt",
        "gt",
        "le",
        "ge",
        "ss",
        "aa",
        "oo",
        "cm",
    ]
)

SPECIAL = MappingProxyType(
    {
        "TV": "vtable for ", "TT": "VTT for ", "TI": "typeinfo for ", "TS": "typeinfo name for ",
        "GV": "guard variable for ", "TW": "TLS wrapper function for ",
        "TH": "TLS init function for ", "GTt": "transaction clone for ",
        "GTn": "non-transaction clone for ",
    }
)  # fmt: skip
