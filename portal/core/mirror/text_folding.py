"""One spelling for finding: widths, cases, kana and a few old characters are folded before anything is compared.

The portal stores the folded form beside the name (never instead of it) and folds what people type in the same way, so
that `ﾔﾏﾀﾞ`, `ヤマダ` and `やまだ` are one word, and `Ｅ００１` is `e001`.
"""

import unicodedata
from functools import lru_cache

# Katakana to hiragana: the two blocks run in parallel, 0x60 apart (ァ to ヶ, and the iteration marks ヽ ヾ).
_KANA = {code: code - 0x60 for code in (*range(0x30A1, 0x30F7), 0x30FD, 0x30FE)}

# Dashes that keyboards produce for the same key. The long vowel mark ー is a letter and stays.
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−﹣"), "-")

# Characters of family names that people type in their everyday form. Unicode does not fold them.
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
    """The form in which names, codes and searches are compared: NFKC, no case, hiragana, no spaces, no controls."""
    composed = _composed(_composed(text).casefold())
    tight = "".join(composed.translate(_FOLDS).split())
    if tight.isprintable():
        return tight
    return "".join(character for character in tight if unicodedata.category(character) != "Cc")


def sort_key(text: str) -> str:
    """The folded form by which lists sort: of a text that is longer than any name its beginning, as an index holds."""
    return fold(text)[:_LONGEST]


def _composed(text: str) -> str:
    return text if unicodedata.is_normalized("NFKC", text) else unicodedata.normalize("NFKC", text)


def search_terms(text: str, max_terms: int = 6) -> list[str]:
    """The words of a search, folded, without doubles, at most `max_terms` of them."""
    return list(dict.fromkeys(filter(None, map(fold, text[:200].split()))))[:max_terms]


def name_pieces(folded: str) -> set[str]:
    """What a name can be found by: its characters and its pairs of characters."""
    return set(folded) | {folded[at : at + 2] for at in range(len(folded) - 1)}


def code_pieces(folded: str) -> set[str]:
    """What a code can be found by: how it begins, and any three of its characters.

    Single digits and pairs would match nearly everybody; they count only at the beginning.
    """
    if not folded:
        return set()
    return {"^" + folded[:1], "^" + folded[:2]} | {"#" + folded[at : at + 3] for at in range(len(folded) - 2)}


def name_search_pieces(term: str) -> set[str]:
    """The pieces that a name holding `term` must have."""
    return {term[at : at + 2] for at in range(len(term) - 1)} or {term}


def code_search_pieces(term: str) -> set[str]:
    """The pieces that a code must have when it begins with `term`, or (from three characters on) holds it."""
    if len(term) <= 2:
        return {"^" + term}
    return {"#" + term[at : at + 3] for at in range(len(term) - 2)}
