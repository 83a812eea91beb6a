"""The validation of a past moment, for which the service may have a recording."""

from datetime import datetime, timedelta

from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext as _

from accessapi.limits import VIDEO_RETENTION_DAYS


def validate_moment(at: datetime) -> datetime:
    """Return a moment for which there may be a recording. Raises ValidationError."""
    if at > timezone.now():
        raise ValidationError(_("This time is in the future."))
    if at < timezone.now() - timedelta(days=VIDEO_RETENTION_DAYS):
        raise ValidationError(_("Recordings are kept for %(n)d days.") % {"n": VIDEO_RETENTION_DAYS})
    return at
