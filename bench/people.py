"""Members as the service lists them, as many as wanted, the same every time."""

import random
from collections.abc import Iterator
from typing import Any

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
    """`count` list items of operation 3."""
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
    """The same, in the service's pages."""
    page = []
    for item in members(count, seed):
        page.append(item)
        if len(page) == size:
            yield page
            page = []
    if page:
        yield page
