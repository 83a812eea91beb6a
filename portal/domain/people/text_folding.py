"""Fold width, case, kana and some old characters, so that names, codes and searches can be compared.

The portal stores the folded form beside the name (never instead of it) and folds search texts in the same way. So
`ﾔﾏﾀﾞ`, `ヤマダ` and `やまだ` are the same word, and `Ｅ００１` equals `e001`.
"""

import unicodedata
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
_LONGEST = 200
_FOLDS = {**_KANA, **_DASHES, **_VARIANTS}


@lru_cache(maxsize=2048)
def fold(text: str) -> str:
    """Return a text in the form for comparison: NFKC, no case, hiragana, no spaces, no control characters."""
    composed = _composed(_composed(text).casefold())
    compact = "".join(composed.translate(_FOLDS).split())
    if compact.isprintable():
        return compact
    return "".join(character for character in compact if unicodedata.category(character) != "Cc")


def sort_key(text: str) -> str:
    """Return the folded form for sorting, cut to 200 characters, because index entries have a maximum size."""
    return fold(text)[:_LONGEST]


def _composed(text: str) -> str:
    return text if unicodedata.is_normalized("NFKC", text) else unicodedata.normalize("NFKC", text)


def search_terms(text: str) -> list[str]:
    """Return the folded words of a search without duplicates, at most six."""
    return list(dict.fromkeys(filter(None, map(fold, text[:200].split()))))[:6]


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
