"""Values that programs stumble over."""

NASTY = (
    "", " ", "0", "-1", "1", "99999999999999999999", "1e309", "NaN", "null", "true", "[]", "{}", "%00", "a\x00b",
    "\ud83d", "' OR 1=1 --", "<script>alert(1)</script>", "../../etc/passwd", "..%2f..%2f", "a" * 41, "あ" * 41,
    "x" * 70_000, "\u202e", "𠮷" * 20, "2026-13-45T99:99:99", "=cmd|' /C calc'!A0", "\r\nSet-Cookie: x=1", "%E3%81",
    "e\u0301" * 20, "name", "-name", "unlock", "desc", "+09:00", ";", "|", "\t",
)  # fmt: skip
