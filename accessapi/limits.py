"""Every limit of the specification (part "Limits" and the resource tables), defined once.

Lengths count characters, sizes count bytes, and durations have the unit in their name. Forms, imports, the sandbox and
the request models all use these names, so each limit has one value.
"""

from datetime import timedelta, timezone
from typing import Final

# Calls, per access token
CALL_WINDOW_SECONDS: Final = 3600
GENERAL_CALLS: Final = 720
DEVICE_CALLS: Final = 180

# Lists
PAGE_MIN: Final = 1
PAGE_MAX: Final = 1000
PAGE_DEFAULT: Final = 100
HISTORY_OFFSET_MAX: Final = 1000
HISTORY_RETENTION_DAYS: Final = 365

# Members and groups
MEMBER_NAME_MAX: Final = 40
MEMBER_CODE_MAX: Final = 20
CARD_DATA_MAX: Final = 16
GROUP_NAME_MAX: Final = 40

# Bulk requests
BULK_MEMBERS_MAX: Final = 1000
BULK_BODY_MAX: Final = 4 * 1024 * 1024

# Images
FACE_IMAGE_MAX: Final = 2 * 1024 * 1024
FACE_IMAGE_CONTENT_TYPE: Final = "image/jpeg"
FACE_IMAGE_RECOMMENDED: Final = (1200, 1600)
FACE_READY_SECONDS: Final = 30

# Guests
GUEST_NAME_MAX: Final = 40
EMAIL_MAX: Final = 254
GUEST_QRCODE_MAX: Final = 557
REMARKS_MAX: Final = 200
GRACE_MINUTES_MAX: Final = 10080
GUEST_AREAS_MAX: Final = 100
GUEST_KEY_DEVICES_MAX: Final = 100
GUEST_DELETED_AFTER_DAYS: Final = 7

# Webhook settings
SECRET_TOKEN_MAX: Final = 64

# Devices
INFO_MAX: Final = 100
TEMPORARY_USE_SECONDS_MAX: Final = 86400
TEMPORARY_USE_TARGETS_MAX: Final = 100
KEY_TARGETS_MAX: Final = 30
UNIT_PATTERN: Final = r"^[0-9]{2}$"
# Assumed: how long a door stays unlocked is set on the member site only.
RELOCK_SECONDS: Final = 10
RELOCK_SECONDS_MAX: Final = 120

# One-time QR (published, not specified: see docs of the overrides)
TIMESTEP_DEFAULT: Final = 300
TIMESTEP_MIN: Final = 30
TIMESTEP_MAX: Final = 86400
# Assumed: each window of skew means one more code that opens a door.
SKEW_MAX: Final = 100
ONE_TIME_QR_PREFIX: Final = "SL-OTQR"

# Cameras
SNAPSHOT_CAMERAS_MAX: Final = 10
STREAMING_SECONDS_MAX: Final = 600
VIDEO_RETENTION_DAYS: Final = 90

# Requests and OAuth
RESULT_RETENTION_DAYS: Final = 30
CODE_LIFETIME: Final = 600

# Every datetime of the interface has this fixed offset.
JST: Final = timezone(timedelta(hours=9), "+09:00")
# Years of external moments. One year is left free at either end, so that a moment can be moved by days or to another
# time zone without an overflow.
EARLIEST_YEAR: Final = 1900
LATEST_YEAR: Final = 9998

# Whole numbers from outside: the range of a database column.
INTEGER_MIN: Final = -(2**31)
INTEGER_MAX: Final = 2**31 - 1
# Bytes of an identifier from outside: a database index allows few more.
IDENTIFIER_BYTES_MAX: Final = 1000
# JSON from outside: nested objects and arrays.
JSON_DEPTH_MAX: Final = 64
