"""Fold width, case, kana, accents and some old characters, so that names, codes and searches can be compared.

The portal stores the folded form beside the name (never instead of it) and folds search texts in the same way. So
`ﾔﾏﾀﾞ`, `ヤマダ` and `やまだ` are the same word, `Ｅ００１` equals `e001`, and `Lukasz` finds `Łukasz`.
"""

import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache

# Katakana to hiragana: the two blocks are 0x60 apart (ァ to ヶ, and the iteration marks ヽ ヾ).
_KANA = {code: code - 0x60 for code in (*range(0x30A1, 0x30F7), 0x30FD, 0x30FE)}

# Dashes that keyboards produce for the same key. The long vowel mark ー is a letter and is kept.
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−﹣"), "-")

# Old characters in family names that people type in their everyday form. Unicode does not fold them.
_VARIANTS = dict(
    zip(
        map(ord, "髙﨑嵜濵濱邉邊齋齊斎澤廣國櫻嶋嶌眞德瀨淵渕桒栁𠮷榮惠藏圓淺龜關壽"),
        "高崎崎浜浜辺辺斉斉斉沢広国桜島島真徳瀬渕渕桑柳吉栄恵蔵円浅亀関寿",
        strict=True,
    )
)
_FORMER_FOLDS = {**_KANA, **_DASHES, **_VARIANTS}

# Accents of Latin and Greek, points of Hebrew, and vowel signs of Arabic: people type names without them. The marks of
# kana are no accents: が is another letter than か. So are the marks of Cyrillic, but for the ё.
_ACCENTS = (*range(0x300, 0x370), *range(0x591, 0x5BE), *range(0x5C1, 0x5C3), 0x640, *range(0x64B, 0x660), 0x670)
_ACCENTED_LETTERS = (*range(0xC0, 0x250), *range(0x370, 0x400), *range(0x620, 0x700), *range(0x1E00, 0x2000))
_INVISIBLE = (0x115F, 0x1160, 0x180B, 0x180C, 0x180D, 0x180F, 0x2800, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))
_NOTHING = dict.fromkeys((*_ACCENTS, *_INVISIBLE), "")
# Letters that Unicode does not take apart.
_LETTERS = {
    "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ȷ": "j", "ħ": "h", "ŧ": "t",
    "ŋ": "n", "ĸ": "k", "ə": "e", "ɛ": "e", "ɔ": "o", "ɓ": "b", "ɖ": "d", "ɗ": "d", "ƙ": "k", "ƴ": "y", "ё": "е",
}  # fmt: skip
_MARKS = {**dict.fromkeys(map(ord, "‘’‛ʹʻʼʾʿ′`"), "'"), **dict.fromkeys(map(ord, "〜∼⁓〰"), "~")}


def _without_accents(code: int) -> str:
    bare = unicodedata.normalize("NFD", chr(code)).translate(_NOTHING)
    return "".join(_LETTERS.get(letter, letter) for letter in bare)


_FOLDS = {
    **_FORMER_FOLDS,
    **_NOTHING,
    **_MARKS,
    **{ord(letter): plain for letter, plain in _LETTERS.items()},
    **{code: bare for code in _ACCENTED_LETTERS if (bare := _without_accents(code)) != chr(code)},
}
_LONGEST = 200


@lru_cache(maxsize=2048)
def fold(text: str) -> str:
    """Return a text in the form for comparison: NFKC, no case, hiragana, no accents, nothing invisible, no spaces."""
    return _fold(text.replace("´", "'"), _FOLDS, {"Cc", "Cf"})  # alone, the accent would become a space


def stored_forms(text: str) -> list[str]:
    """Return the forms in which a text may be stored: folded, and as rows have it that were not refolded yet.

    The second form is different only for accents and other signs that were not folded before (`refolding.py`).
    """
    return list(dict.fromkeys((sort_key(text), _fold(text, _FORMER_FOLDS, {"Cc"})[:_LONGEST])))


def _fold(text: str, table: Mapping[int, int | str], dropped: Iterable[str]) -> str:
    compact = "".join(_composed(_composed(text).casefold()).translate(table).split())
    if compact.isprintable():
        return compact
    return "".join(character for character in compact if unicodedata.category(character) not in dropped)


def sort_key(text: str) -> str:
    """Return the folded form for sorting, cut to 200 characters, because index entries have a maximum size."""
    return fold(text)[:_LONGEST]


def _composed(text: str) -> str:
    return text if unicodedata.is_normalized("NFKC", text) else unicodedata.normalize("NFKC", text)


def search_words(text: str) -> list[str]:
    """Return the words of a search as typed, without those that are the same when folded, at most six."""
    words: dict[str, str] = {}
    for word in text[:200].split():
        words.setdefault(fold(word), word)
    return [word for folded, word in words.items() if folded][:6]


def search_terms(text: str) -> list[str]:
    """Return the folded words of a search."""
    return [fold(word) for word in search_words(text)]


def name_pieces(folded: str) -> set[str]:
    """Return the pieces by which a name is found: its characters and its pairs of characters."""
    return set(folded) | {folded[at : at + 2] for at in range(len(folded) - 1)}


def code_pieces(folded: str) -> set[str]:
    """Return the pieces by which a code is found: its first one and two characters, and any three in a row.

    Other single characters and pairs are left out, because they would match nearly all codes.
    """
    if not folded:
        return set()
    return {"^" + folded[:1], "^" + folded[:2]} | {"#" + folded[at : at + 3] for at in range(len(folded) - 2)}


def name_search_pieces(term: str) -> set[str]:
    """Return the pieces that a name must have to contain `term`."""
    return {term[at : at + 2] for at in range(len(term) - 1)} or {term}


def code_search_pieces(term: str) -> set[str]:
    """Return the pieces that a code must have to begin with `term`, or to contain it if it has 3 or more characters."""
    if len(term) <= 2:
        return {"^" + term}
    return {"#" + term[at : at + 3] for at in range(len(term) - 2)}
