"""What the specification leaves to a service, where this one can do either."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Choices:
    """Whether this service…"""

    #: …sees a face in a picture
    sees_faces: bool = True
    #: …is used by others at the same time
    lively: bool = True
    #: …uses an authorization code up when the redirect URI was wrong
    burns_codes: bool = False
    #: …sends to its sign-in page before it looks at a request for authorisation
    signs_in_first: bool = False
    #: …refuses a token once it was reissued
    old_token_dies: bool = False
    #: …takes guests whose period is over
    takes_past_guests: bool = True
    #: …has words of its own for the fields of a guest in the list
    own_words: bool = False
    #: …lets key boxes be used for a time, and by guests
    lends_keys: bool = True
    #: …holds so many members more
    crowd: int = 0
    #: …takes so many seconds for a bulk request
    bulk_seconds: float = 0.03
    #: …tells the result of a request to anybody who knows its identifier
    tells_anybody: bool = False
    #: …takes pictures and bulk requests in as they are, and lets them fail later
    judges_late: bool = False
    #: …holds anything but a group and the tenant itself
    furnished: bool = True
    #: …has a secret token for its webhook
    has_secret: bool = False
    #: …deletes a face once, and then says that there is none
    deletes_once: bool = False
    #: …shows what is not there as null
    shows_nulls: bool = False
    #: …tells the calls that are left with every answer
    counts_aloud: bool = False
    #: Calls, general and of devices, that the token has left this hour
    calls_left: tuple[int, int] = (720, 180)
