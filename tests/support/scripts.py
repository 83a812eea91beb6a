"""Names in the scripts that members and guests may have."""

NAMES = {
    "田中 愛子": "Japanese",
    "刘晓燕": "simplified Chinese",
    "Zdzisław Świętoń": "Polish",
    "Jiří Dvořák": "Czech",
    "이서윤": "Korean",
    "فاطمة الزهراء": "Arabic",
    "กมลวรรณ ศรีสุข": "Thai",
    "שרה לוי": "Hebrew",
    "प्रिया कृष्णन": "Devanagari",
    "Phạm Thị Bích Ngọc": "Vietnamese",
    "Анастасия Рождественская": "Cyrillic",
    "Κωνσταντίνα Οικονόμου": "Greek",
    "İpek Yıldırım Ağaoğlu": "Turkish",
    "Գարիկ Մարտիրոսյան": "Armenian",
}
# Rare characters, marks that follow their letters, and pictures.
HARD_NAMES = (
    "𠮷田 髙志 﨑山",
    "葛\U000e0100城 麻衣",
    "Rene\u0301e Mu\u0308ller x\u0301",
    "ｶﾞﾗｼｬ カ\u3099",
    "Łukasz Čapek",
    "Bea 🎉 Gómez",
    "👩‍🔬 Ada 👍🏽",
    "น้ำผึ้ง ก่ำ",
    "क्षितिज श्रीवास्तव",
    "\u1112\u1161\u11ab\u110b\u1167\u11bc",
    "O’Neil ★ & Co. №5",
)
