"""Names of people and groups, Japanese and English, like those of real customers."""

from random import Random

SURNAMES = [
    ("佐藤", "Sato"), ("鈴木", "Suzuki"), ("高橋", "Takahashi"), ("田中", "Tanaka"), ("伊藤", "Ito"),
    ("渡辺", "Watanabe"), ("山本", "Yamamoto"), ("中村", "Nakamura"), ("小林", "Kobayashi"),
    ("加藤", "Kato"), ("吉田", "Yoshida"), ("山田", "Yamada"), ("佐々木", "Sasaki"), ("山口", "Yamaguchi"),
    ("松本", "Matsumoto"), ("井上", "Inoue"), ("木村", "Kimura"), ("林", "Hayashi"), ("斎藤", "Saito"),
    ("清水", "Shimizu"), ("山崎", "Yamazaki"), ("森", "Mori"), ("池田", "Ikeda"), ("橋本", "Hashimoto"),
    ("阿部", "Abe"), ("石川", "Ishikawa"), ("前田", "Maeda"), ("藤田", "Fujita"), ("後藤", "Goto"),
    ("小川", "Ogawa"), ("長谷川", "Hasegawa"), ("村上", "Murakami"), ("近藤", "Kondo"), ("石井", "Ishii"),
    ("坂本", "Sakamoto"), ("遠藤", "Endo"), ("青木", "Aoki"), ("藤井", "Fujii"), ("西村", "Nishimura"),
    ("福田", "Fukuda"), ("太田", "Ota"), ("三浦", "Miura"), ("岡本", "Okamoto"), ("松田", "Matsuda"),
    ("中川", "Nakagawa"), ("髙橋", "Takahashi"), ("渡邊", "Watanabe"), ("勅使河原", "Teshigawara"),
]  # fmt: skip
GIVEN_NAMES = [
    ("蓮", "Ren"), ("湊", "Minato"), ("陽翔", "Haruto"), ("悠真", "Yuma"), ("大翔", "Hiroto"),
    ("樹", "Itsuki"), ("健太", "Kenta"), ("翔太", "Shota"), ("拓也", "Takuya"), ("直樹", "Naoki"),
    ("浩", "Hiroshi"), ("誠", "Makoto"), ("葵", "Aoi"), ("結衣", "Yui"), ("陽菜", "Hina"), ("凛", "Rin"),
    ("美咲", "Misaki"), ("さくら", "Sakura"), ("花子", "Hanako"), ("恵子", "Keiko"), ("由美", "Yumi"),
    ("真由美", "Mayumi"), ("ひかり", "Hikari"), ("めぐみ", "Megumi"), ("隆", "Takashi"), ("修", "Osamu"),
    ("一郎", "Ichiro"), ("千尋", "Chihiro"), ("光", "Hikaru"), ("薫", "Kaoru"),
]  # fmt: skip
FOREIGN_SURNAMES = [
    "Smith", "Johnson", "Williams", "Brown", "García", "Müller", "O'Brien", "Nguyễn", "Kim", "Chen", "Silva",
    "Rossi", "Dubois", "Kowalski", "Andersson", "Patel", "Ivanova", "Haddad", "van der Berg", "Santos",
]  # fmt: skip
FOREIGN_GIVEN_NAMES = [
    "Emma", "Olivia", "James", "Noah", "Mia", "Lucas", "Sofia", "Daniel", "Chloé", "Jürgen", "Anna", "Peter",
    "Priya", "Mateo", "Ingrid", "Samuel", "Linh", "Grace", "Oscar", "Zoë",
]  # fmt: skip
#: Exactly 40 characters: the longest that the specification allows.
LONG_NAMES = [
    "Maria del Carmen Fernandez de la Vega-Ro",
    "Wolfeschlegelsteinhausenbergerdorff Hube",
    "寿限無寿限無五劫の擦り切れ海砂利水魚の水行末雲来末風来末食う寝る処に住む処藪ら柑",
]
GROUPS = [
    "総務部", "営業部", "開発部", "人事部", "経理部", "品質保証部", "清掃スタッフ", "警備", "役員",
    "Engineering", "Sales", "Facilities", "Contractors", "Interns", "派遣社員", "夜間シフト",
    "Research & Development", "Visitors (long stay)", "大阪支店", "福岡支店",
]  # fmt: skip
TENANTS = [
    "青葉製作所", "Harbour Analytics", "みなと信用金庫", "Northwind Logistics", "桜台総合病院",
    "Kita Robotics", "ひまわり学園", "Sumida Data Center", "富士見不動産", "Orchard Coworking",
]  # fmt: skip


def person(random: Random) -> str:
    """Return one name of at most 40 characters: kanji, a reading, both, or a foreign one."""
    draw = random.random()
    if draw < 0.005:
        return random.choice(LONG_NAMES)[:40]
    if draw < 0.25:
        return f"{random.choice(FOREIGN_GIVEN_NAMES)} {random.choice(FOREIGN_SURNAMES)}"
    surname, given = random.choice(SURNAMES), random.choice(GIVEN_NAMES)
    if draw < 0.35:
        return f"{given[1]} {surname[1]}"
    if draw < 0.45:
        return f"{surname[0]} {given[0]} ({surname[1]} {given[1]})"
    # Many customers write no space between family and given name.
    return f"{surname[0]}{'　' if draw < 0.6 else ' ' if draw < 0.8 else ''}{given[0]}"


def tenant(index: int) -> str:
    """Return the name of the index-th tenant, without repetition."""
    name, turn = TENANTS[index % len(TENANTS)], index // len(TENANTS)
    return name if turn == 0 else f"{name} {turn + 1}"


def group(index: int) -> str:
    """Return the name of the index-th member group."""
    name, turn = GROUPS[index % len(GROUPS)], index // len(GROUPS)
    return name if turn == 0 else f"{name} {turn + 1}"
