"""Register the app's parts that other apps run or show."""

from functools import partial

from django.utils.translation import gettext_lazy

from portal.base.ui import batching, command_palette, nav
from portal.base.ui.nav import NavEntry
from portal.domain.intents import handlers
from portal.domain.mirror import events, freshness
from portal.domain.mirror.kinds import MirrorKind
from portal.members import faces, follow, portraits, queries, temporary_keys
from tenants.audit_log import queries as trail
from tenants.roles import Permission

nav.register(
    NavEntry(
        "members", gettext_lazy("Members"), "users", "members:index", Permission.MEMBERS_VIEW, is_in_phone_bar=True
    )
)
batching.register_query("groups", queries.group_names, on_every_page=False)
trail.register_search(queries.trail_condition)
unread = partial(freshness.describe_unread, kind=MirrorKind.MEMBERS)
command_palette.register("members", gettext_lazy("Members"), queries.find_hits, Permission.MEMBERS_VIEW, unread)
events.subscribe(MirrorKind.MEMBERS, portraits.delete_orphan_portraits)

handlers.register("create_member", on_finished=follow.on_created, reconcile=follow.reconcile_created)
handlers.register("update_member", on_finished=follow.on_updated, reconcile=follow.reconcile_updated)
handlers.register("delete_member", on_finished=follow.on_deleted, reconcile=follow.reconcile_deleted)
handlers.register(
    faces.REGISTER,
    on_finished=follow.on_face_registered,
    reconcile=follow.reconcile_face,
    describe=follow.face_effect,
)
handlers.register(
    faces.DELETE,
    on_finished=follow.on_face_deleted,
    reconcile=partial(follow.reconcile_face, wanted=False),
    describe=follow.face_deletion_effect,
)
handlers.register(temporary_keys.OPERATION, reconcile=follow.reconcile_keys, describe=follow.keys_effect)
