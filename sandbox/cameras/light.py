"""Light by the hour: the sun outside, lamps inside, and infrared without either."""

import math
from dataclasses import dataclass
from datetime import datetime

_LAMPS_ON, _LAMPS_OFF = 6.75, 22.0


@dataclass(frozen=True)
class Light:
    """sun and lamps from 0 to 1; infrared: the camera's picture is grey."""

    sun: float
    lamps: float

    @property
    def is_infrared(self) -> bool:
        return max(self.sun, self.lamps) < 0.3

    @property
    def indoor_brightness(self) -> float:
        """Return the brightness of a room."""
        return 0.42 if self.is_infrared else 0.5 + 0.38 * self.lamps + 0.16 * self.sun


def light_at(moment: datetime, *, outdoors: bool) -> Light:
    """Return the light at this time of day, in steps of ten minutes so that pictures share a background."""
    hour = moment.hour + moment.minute // 10 / 6
    # From dawn at five to dusk at seven in the evening, full from about eight to four.
    sun = max(0.0, min(1.0, 1.7 * math.sin((hour - 5) / 14 * math.pi))) if 5 < hour < 19 else 0.0
    working = _LAMPS_ON <= hour < _LAMPS_OFF
    lamps = (0.35 if hour < 7 or hour >= 16.5 else 0.0) if outdoors else 1.0
    return Light(round(sun, 2), lamps if working else 0.0)
