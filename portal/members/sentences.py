"""Register the stored sentences about members."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from tenants.sentences import register_sentences, register_targets

register_sentences(
    {
        "member.create": _("Create member: %(name)s"),
        "member.change": _("Change member: %(name)s"),
        "member.delete": _("Delete member: %(name)s"),
        "member.temporary_keys": _("Temporary keys: %(name)s"),
        "member.profile_picture": _("Profile picture: %(name)s"),
        "member.register_face": _("Register face: %(name)s"),
        "member.delete_face": _("Delete face: %(name)s"),
        "member.reveal_card": _("Card number shown: %(name)s"),
        "member.reveal_qr": _("QR data shown: %(name)s"),
        "member.reveal_one_time": _("One-time code shown: %(name)s"),
        "members.export": ngettext_lazy("%(n)s member exported as %(kind)s", "%(n)s members exported as %(kind)s", "n"),
    }
)
register_targets({"member": _("Member"), "members": _("Members")})
