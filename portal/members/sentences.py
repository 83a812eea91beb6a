"""Register the stored sentences about members."""

from django.utils.translation import gettext_lazy
from django.utils.translation import ngettext_lazy

from tenants.sentences import register_sentences, register_targets

register_sentences(
    {
        "member.create": gettext_lazy("Create member: %(name)s"),
        "member.change": gettext_lazy("Change member: %(name)s"),
        "member.delete": gettext_lazy("Delete member: %(name)s"),
        "member.temporary_keys": gettext_lazy("Temporary keys: %(name)s"),
        "member.profile_picture": gettext_lazy("Profile picture: %(name)s"),
        "member.register_face": gettext_lazy("Register face: %(name)s"),
        "member.delete_face": gettext_lazy("Delete face: %(name)s"),
        "member.reveal_card": gettext_lazy("Card number shown: %(name)s"),
        "member.reveal_qr": gettext_lazy("QR data shown: %(name)s"),
        "member.reveal_one_time": gettext_lazy("One-time code shown: %(name)s"),
        "members.export": ngettext_lazy("%(n)s member exported as %(kind)s", "%(n)s members exported as %(kind)s", "n"),
    }
)
register_targets({"member": gettext_lazy("Member"), "members": gettext_lazy("Members")})
