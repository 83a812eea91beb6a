"""Date and time formats, the same in all languages: 2026-11-21 09:41."""

DATE_FORMAT = SHORT_DATE_FORMAT = "Y-m-d"
DATETIME_FORMAT = SHORT_DATETIME_FORMAT = "Y-m-d H:i"
TIME_FORMAT = "H:i:s"
THOUSAND_SEPARATOR = ","
NUMBER_GROUPING = 3
