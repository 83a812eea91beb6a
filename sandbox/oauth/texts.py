"""The member site's words, in English and Japanese."""

from typing import Any

ENGLISH: dict[str, Any] = {
    "lang": "en",
    "site": "Member site",
    "sandbox": "Sandbox: a development environment. No real doors are connected.",
    "sign_in": "Sign in",
    "sign_in_why": "requests access to your organisation's data. Sign in as an administrator.",
    "login": "Login",
    "password": "Password",
    "wrong": "The login or password is incorrect. Try again.",
    "consent": "Allow access?",
    "consent_why": "requests access to the data of",
    "may": "Permissions:",
    "allow": "Allow",
    "refuse": "Refuse",
    "other": "Use another account",
    "signed_in": "Signed in as",
    "error": "This request cannot be processed",
    "error_why": "Go back to the system and try again. If the error remains, contact its operator with this code:",
    "scopes": {
        "tenant:read": "read the organisation's name, holidays and notification settings",
        "tenant:write": "change notification settings",
        "members:read": "read members",
        "members:write": "add, change and delete members",
        "membergroups:read": "read member groups",
        "membergroups:write": "add, change and delete member groups",
        "guests:read": "read guests",
        "guests:write": "add, change and delete guests",
        "histories:read": "read the activity log",
        "areas:read": "read areas",
        "devices:read": "read devices and their status",
        "cameras:read": "watch cameras and recordings",
    },
}
JAPANESE: dict[str, Any] = {
    "lang": "ja",
    "site": "会員サイト",
    "sandbox": "サンドボックス（開発環境）です。実際の扉にはつながっていません。",
    "sign_in": "ログイン",
    "sign_in_why": "が、組織の入退室管理への接続を求めています。管理者アカウントでログインしてください。",
    "login": "ログインID",
    "password": "パスワード",
    "wrong": "ログインIDまたはパスワードが違います。もう一度入力してください。",
    "consent": "アクセスを許可しますか？",
    "consent_why": "が、次の組織のデータへのアクセスを求めています：",
    "may": "許可する操作：",
    "allow": "許可する",
    "refuse": "許可しない",
    "other": "別のアカウントを使う",
    "signed_in": "ログイン中：",
    "error": "このリクエストは処理できません",
    "error_why": "元のシステムに戻ってやり直してください。解決しない場合は、管理者に次のコードを連絡してください。",
    "scopes": {
        "tenant:read": "組織名・休日・通知設定の参照",
        "tenant:write": "通知設定の変更",
        "members:read": "会員の参照",
        "members:write": "会員の追加・変更・削除",
        "membergroups:read": "会員グループの参照",
        "membergroups:write": "会員グループの追加・変更・削除",
        "guests:read": "ゲストの参照",
        "guests:write": "ゲストの追加・変更・削除",
        "histories:read": "履歴の参照",
        "areas:read": "エリアの参照",
        "devices:read": "機器の情報と状態の参照",
        "cameras:read": "カメラ映像の参照",
    },
}


def texts(accept_language: str) -> dict[str, Any]:
    """Return the words in the browser's language."""
    return JAPANESE if preferred_language(accept_language) == "ja" else ENGLISH


def preferred_language(accept_language: str) -> str:
    """Return ja if the browser names Japanese before English, else en."""
    for part in accept_language.lower().split(","):
        language = part.strip().split(";")[0].split("-")[0]
        if language in {"ja", "en"}:
            return language
    return "en"
