"""What the service writes into its records, in Japanese."""

#: Controls of remote commands.
CONTROLS: dict[str, str] = {
    "unlock": "解錠",
    "lock": "施錠",
    "cont_unlock": "連続解錠",
    "in_unlock": "入口側解錠",
    "out_unlock": "出口側解錠",
}
#: The sentences by their English, and four patterns of sentences.
SENTENCES: dict[str, str] = {
    "holiday": "{text}（休日：{holiday}）",
    "schedule": "時間帯により許可：{item}",
    "remote": "遠隔操作：{control}（{outcome}）{rest}",
    "temporary": "一時利用{seconds}秒{rest}",
    "Entry": "入室",
    "Exit": "退室",
    "Key taken": "鍵の持ち出し",
    "Key returned": "鍵の返却",
    "Door forced open": "扉のこじ開け",
    "Door open too long": "扉の閉め忘れ",
    "Power cut": "電源断",
    "Connection lost": "通信断",
    "Allowed at any time.": "常時入室できます。",
    "Allowed: everything here is allowed, including what is added later.": ""
    "すべて許可されています（今後追加されるものも含みます）。",
    "Allowed by temporary use.": "一時利用により許可されています。",
    "A key may be given back throughout the use period.": "利用期間中は返却できます。",
    "Refused: the use period has not begun.": "拒否：利用期間がまだ始まっていません。",
    "Refused: the use period is over.": "拒否：利用期間が終わっています。",
    "Refused: no access rights.": "拒否：権限が設定されていません。",
    "Refused: no access right for it.": "拒否：許可された対象に含まれていません。",
    "Refused: set to “never”.": "拒否：「不可」に設定されています。",
    "Refused: outside the scheduled hours.": "拒否：この日時はどの時間帯にも当てはまりません。",
    "Unknown: this member's rights are not loaded yet.": "不明：権限は未取得です。",
    "Unknown: these rights use a setting this portal does not recognise.": ""
    "不明：権限に未対応の設定値が含まれています。",
    "Refused: nobody has this card.": "拒否：このカードは登録されていません。",
    "Refused: nobody has this code.": "拒否：このコードは登録されていません。",
    "Refused: nobody has registered this face.": "拒否：この顔は登録されていません。",
    "Refused: this member needs a one-time code.": "拒否：ワンタイムQRが必要な会員です。",
    "Refused: the one-time code is wrong or too old.": "拒否：ワンタイムQRが違うか、期限切れです。",
    "Refused: the face was registered less than 30 seconds ago.": "拒否：顔の登録から30秒たっていません。",
    "The device has no power.": "機器に電源がありません。",
    "Refused: the key is not normally used.": "拒否：通常は使わない鍵です。",
    "Refused: the second factor is missing.": "拒否：二要素認証が行われていません。",
    "Refused: this key box has no keys for guests.": "拒否：このキーボックスではゲストが鍵を使えません。",
    "The key is out.": "鍵は持ち出し中です。",
    "The key is in its place.": "鍵は収納されています。",
}
#: Parts of a schedule as it is put into words.
SCHEDULE: dict[str, str] = {
    "every day including holidays": "休日を含む毎日",
    "Monday to Friday": "月～金",
    "Monday": "月",
    "Tuesday": "火",
    "Wednesday": "水",
    "Thursday": "木",
    "Friday": "金",
    "Saturday": "土",
    "Sunday": "日",
    "holidays": "休日",
    ", all day": " 終日",
    ", ": "、",
    "from ": "",
    " to ": "～",
    "no day": "曜日なし",
}
