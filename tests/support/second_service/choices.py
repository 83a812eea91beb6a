"""Choices that the specification leaves to a service, where this one can do either."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Choices:
    """How this service decides where the specification leaves a choice."""

    #: Find a face in a picture.
    sees_faces: bool = True
    #: Behave as if others used the service at the same time.
    lively: bool = True
    #: Use an authorization code up even when the redirect URI was wrong.
    burns_codes: bool = False
    #: Redirect to the sign-in page before checking a request for authorisation.
    signs_in_first: bool = False
    #: Refuse a token once it was reissued.
    old_token_dies: bool = False
    #: Accept guests whose period is over.
    takes_past_guests: bool = True
    #: Use different names for the fields of a guest in the list.
    own_words: bool = False
    #: Allow temporary use of key boxes, also by guests.
    lends_keys: bool = True
    #: How many additional members there are.
    crowd: int = 0
    #: How many seconds a bulk request takes.
    bulk_seconds: float = 0.03
    #: Return the result of a request to any tenant that knows its identifier.
    tells_anybody: bool = False
    #: Accept pictures and bulk requests unchecked, and let them fail later.
    judges_late: bool = False
    #: Hold more than a group and the tenant itself.
    furnished: bool = True
    #: Have a secret token for its webhook.
    has_secret: bool = False
    #: Delete a face once; a second time, answer that there is none.
    deletes_once: bool = False
    #: Show missing values as null.
    shows_nulls: bool = False
    #: Send the number of remaining calls with every answer.
    counts_aloud: bool = False
    #: General calls and device calls that the token has left this hour.
    calls_left: tuple[int, int] = (720, 180)
