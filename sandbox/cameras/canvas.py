"""A pinhole camera over Pillow: scenes are in metres, the canvas in pixels."""

from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image, ImageDraw

#: The size of the picture in pixels for all figures below; other sizes are scaled.
WIDTH, HEIGHT = 640, 360

Point = tuple[float, float]
#: Metres: to the right of the camera, above the floor, away from the camera.
Point3D = tuple[float, float, float]
Colour = tuple[int, int, int]


@dataclass(frozen=True)
class Lens:
    """A camera `height` metres above the floor that looks straight ahead; its horizon is `horizon` pixels down."""

    height: float
    horizon: float
    focal: float = 400.0
    is_mirrored: bool = False

    def point(self, place: Point3D) -> Point:
        """Return the position of a place, in pixels of the 640 by 360 picture."""
        across, up, away = place
        scale = self.pixels_per_metre(away)
        return WIDTH / 2 + (-across if self.is_mirrored else across) * scale, self.horizon + (self.height - up) * scale

    def pixels_per_metre(self, away: float) -> float:
        """Return the pixels per metre at this distance."""
        return self.focal / max(away, 0.3)


class Canvas:
    """A canvas for flat shapes, drawn from back to front. `grain` is the size of one picture pixel in canvas pixels."""

    def __init__(self, lens: Lens, grain: int) -> None:
        self.lens = lens
        self.grain = grain
        self.image = Image.new("RGB", (WIDTH * grain, HEIGHT * grain))
        self._draw = ImageDraw.Draw(self.image)

    def polygon(self, places: Sequence[Point3D], colour: Colour) -> None:
        """Draw a polygon in the room."""
        self._draw.polygon([self._pixel(self.lens.point(place)) for place in places], colour)

    def front_wall(self, left: float, right: float, low: float, high: float, away: float, colour: Colour) -> None:
        """Draw a rectangle that faces the camera."""
        corners = [(left, low, away), (right, low, away), (right, high, away), (left, high, away)]
        self.polygon(corners, colour)

    def side_wall(self, across: float, low: float, high: float, near: float, far: float, colour: Colour) -> None:
        """Draw an upright rectangle that runs away from the camera."""
        self.polygon([(across, low, near), (across, low, far), (across, high, far), (across, high, near)], colour)

    def horizontal_plane(self, left: float, right: float, up: float, near: float, far: float, colour: Colour) -> None:
        """Draw a horizontal rectangle at a height."""
        self.polygon([(left, up, near), (right, up, near), (right, up, far), (left, up, far)], colour)

    def box(self, left: float, right: float, low: float, high: float, near: float, far: float, colour: Colour) -> None:
        """Draw the three faces of a box that a camera above it sees."""
        if left > 0:
            self.side_wall(left, low, high, near, far, shade(colour, 0.7))
        if right < 0:
            self.side_wall(right, low, high, near, far, shade(colour, 0.7))
        if high < self.lens.height:
            self.horizontal_plane(left, right, high, near, far, shade(colour, 1.15))
        self.front_wall(left, right, low, high, near, shade(colour, 0.88))

    def line(self, start: Point3D, end: Point3D, colour: Colour, width: float = 1.0) -> None:
        points = [self._pixel(self.lens.point(start)), self._pixel(self.lens.point(end))]
        self._draw.line(points, colour, max(1, round(width * self.grain)))

    def ball(self, place: Point3D, radius: float, colour: Colour) -> None:
        """Draw a ball, `radius` in metres."""
        across, down = self._pixel(self.lens.point(place))
        size = radius * self.lens.pixels_per_metre(place[2]) * self.grain
        self._draw.ellipse((across - size, down - size, across + size, down + size), colour)

    def fill_gradient(self, top: Colour, bottom: Colour) -> None:
        """Fill the picture from top to bottom."""
        ramp = Image.linear_gradient("L").resize(self.image.size)
        ends = [Image.new("RGB", self.image.size, colour) for colour in (bottom, top)]
        self.image.paste(Image.composite(ends[0], ends[1], ramp))

    def _pixel(self, point: Point) -> Point:
        return point[0] * self.grain, point[1] * self.grain


def shade(colour: Colour, by: float) -> Colour:
    """Return the colour, brighter or darker by a factor."""
    red, green, blue = (max(0, min(255, round(part * by))) for part in colour)
    return red, green, blue


def mix(first: Colour, second: Colour, share: float) -> Colour:
    """Return a colour between two; share 1 is the second."""
    red, green, blue = (round(one + (two - one) * share) for one, two in zip(first, second, strict=True))
    return red, green, blue
