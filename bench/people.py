"""Members, guests and histories as the service lists them, in any number, the same every time."""

import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from accessapi.limits import JST

_FAMILIES = """
佐藤 鈴木 高橋 田中 伊藤 渡辺 山本 中村 小林 加藤 吉田 山田 佐々木 山口 松本 井上 木村 林 斎藤 清水 山崎 森 池田 橋本
阿部 石川 山下 中島 石井 小川 前田 岡田 長谷川 藤田 後藤 近藤 村上 遠藤 青木 坂本 斉藤 福田 太田 西村 藤井 金子 岡本
"""
_GIVEN = """
翔太 大輔 健太 直樹 達也 拓也 亮 誠 剛 学 愛 美咲 陽子 裕子 真由美 恵 智子 久美子 由美 明美 さくら ひなた 結衣 葵
大翔 悠真 湊 樹 律 朝陽 颯 凛 紬 芽依 莉子 詩 杏 咲良 一郎 二郎 三郎 正 清 勝 実 茂 進 弘 陽菜 蓮
"""
_ENGLISH = ("Alice", "Bruno", "Carmen", "Deepak", "Elena", "Farid", "Grace", "Hugo", "Ines", "Jonas")
GROUPS = 40


def groups() -> list[dict[str, Any]]:
    return [{"membergroup_id": f"g{n:02}", "membergroup_name": f"第{n + 1}営業部"} for n in range(GROUPS)]


def members(count: int, seed: int = 1) -> Iterator[dict[str, Any]]:
    """Return `count` list items of operation 3."""
    chance = random.Random(seed)
    families, given, named = _FAMILIES.split(), _GIVEN.split(), groups()
    for number in range(count):
        family = chance.choice(families)
        name = f"{family} {chance.choice(given)}" if number % 10 else f"{chance.choice(_ENGLISH)} {number}"
        item = {
            "member_id": f"m{seed:02}{number:08}",
            "member_name": name,
            "member_code": f"E{number:06}",
            **named[chance.randrange(GROUPS)],
        }
        if number % 5 < 3:
            item["card_data"] = f"{seed:02X}{number:012X}"
        if number % 10 == 7:
            item["qrcode"] = {"data": f"q{number}"}
        if number % 4 == 0:
            item["use_date_end"] = f"20{26 + number % 5}-{1 + number % 12:02}-28T23:59:59+09:00"
        yield item


def pages(count: int, size: int = 1000, seed: int = 1) -> Iterator[list[dict[str, Any]]]:
    """Return the same members in the service's pages."""
    page = []
    for item in members(count, seed):
        page.append(item)
        if len(page) == size:
            yield page
            page = []
    if page:
        yield page


def guests(count: int) -> list[dict[str, Any]]:
    """Return `count` list items of operation 19, with everything that `fields` names."""
    chance = random.Random(2)
    families, given = _FAMILIES.split(), _GIVEN.split()
    made = []
    for number in range(count):
        day = f"2026-12-{1 + number % 28:02}"
        made.append(
            {
                "guest_id": f"v{number:08}",
                "guest_name": f"{chance.choice(families)} {chance.choice(given)}",
                "email": f"v{number}@example.test" if number % 3 else None,
                "use_date_start": f"{day}T09:00:00+09:00",
                "use_date_end": f"{day}T18:00:00+09:00",
                "key_return_date_end": f"{day}T18:30:00+09:00",
                "is_for_reserve": False,
            }
        )
    return made


def histories(count: int) -> list[dict[str, Any]]:
    """Return `count` records of operation 23, one a second; the last of them is now."""
    begin = datetime.now(JST) - timedelta(seconds=count)
    return [
        {
            "history_id": f"h{number:012}",
            "datetime": (begin + timedelta(seconds=number)).replace(microsecond=0).isoformat(),
            "status": "occur",
            "category": "normal",
            "_content": "カードで入室しました",
            "member": {"id": f"m{number % 2000:08}", "name": "佐藤 翔太", "_type": "member", "data": f"{number:012X}",
                       "label": "card", "attribute": ""},
            "device": {"id": f"d{number % 40:03}", "name": f"{number % 40} 階 会議室", "module": "pass", "units": []},
        }
        for number in range(count)
    ]  # fmt: skip
