"""Operation 7: profile images."""

import secrets
from typing import Any

from sandbox import files
from sandbox.engine.desk import locked
from sandbox.service.models import ProfileImage

from .bodies import picture
from .call import Call
from .members import member_of


def register_profile_image(call: Call) -> dict[str, Any]:
    """Keeps a JPEG or PNG of at most 2 MB (assumed) as the member's picture, under an address nobody can guess.

    Another picture replaces it, under another address; a deleted member takes it along.
    """
    call.query()
    content, content_type = picture(call)
    with locked(call.tenant):
        member = member_of(call)
        image, _ = ProfileImage.objects.update_or_create(
            member=member,
            defaults={"token": secrets.token_urlsafe(32), "content_type": content_type, "content": content},
        )
    return {"member_id": member.member_id, "profile_image_url": files.profile_image_url(call.request, image.token)}


HANDLERS = {"register_profile_image": register_profile_image}
