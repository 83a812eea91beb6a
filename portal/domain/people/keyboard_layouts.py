"""Translate back the card numbers that a scanner types through another keyboard layout.

A scanner presses the keys of a US keyboard. If the computer has another layout or Caps Lock is on, other characters
arrive: `0013` becomes `àà&"` in French and `わわぬあ` in Japanese kana mode.
"""

import re
import unicodedata

_KEYS = "1234567890-=qwertyuiop[]asdfghjkl;'zxcvbnm,./"
_FRENCH = "&é\"'(-è_çà)=azertyuiop^$qsdfghjklmùwxcvbn,;:!"
_GERMAN = "1234567890ß´qwertzuiopü+asdfghjklöäyxcvbnm,.-"
_KANA = "ぬふあうえおやゆよわほへたていすかんなにらせ゛゜ちとしはきくまのりれけつさそひこみもねるめ"
# Digits alone, where the letters arrive unchanged, or Shift or Caps Lock was on. The first is the row of US keyboards.
_DIGIT_ROWS = ("!@#$%^&*()", '!"§$%&/()=', "!\"#$%&'()~", "&é\"'(-è_çà", "&é\"'(§è!çà", "+ěščřžýáíé", "+ľščťžýáíé")

_SHIFTED_KANA = str.maketrans("ぁぃぅぇぉゃゅょをっ", "あいうえおやゆよわつ")
_HIRAGANA = {code: code - 0x60 for code in range(0x30A1, 0x30F7)}
_LAYOUTS = [
    *(str.maketrans(layout, _KEYS) for layout in (_FRENCH, _GERMAN, _KANA)),
    *(str.maketrans(row, "1234567890") for row in _DIGIT_ROWS),
]
# What a card number looks like: other texts are not translated, so that searches for names stay fast.
_CARD = re.compile(r"(?=(?:[^0-9]*[0-9]){3})[0-9a-z:._/-]{4,40}")


def scanned_numbers(typed: str) -> list[str]:
    """Return the card numbers that a scanner may have sent, if `typed` came through another layout."""
    text = typed.strip().lower()
    kana = unicodedata.normalize("NFKC", text).translate(_HIRAGANA).translate(_SHIFTED_KANA)
    found = {each.translate(layout) for layout in _LAYOUTS for each in (text, kana)}
    return sorted(each for each in found - {text} if _CARD.fullmatch(each))


def is_from_other_layout(typed: str) -> bool:
    """Return whether a text is no card number, but one in another keyboard layout."""
    return not _CARD.fullmatch(unicodedata.normalize("NFKC", typed.strip().lower())) and bool(scanned_numbers(typed))
