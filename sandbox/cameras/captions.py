"""Text in pictures: the camera's name and the time, in a font that has Japanese."""

from functools import lru_cache
from threading import Lock

from PIL import Image, ImageDraw, ImageFont
from pylopdf_fonts_jp import sans_path

# A loaded font keeps state while it draws; several threads draw pictures.
_one_at_a_time = Lock()


@lru_cache(4)
def _font(size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(sans_path(), size)


@lru_cache(128)
def caption(text: str, size: int) -> Image.Image:
    """The text in white on a dark, half transparent strip; `size` is the height of its letters in pixels."""
    with _one_at_a_time:
        font = _font(size)
        wide, pad = font.getlength(text), size * 0.45
        image = Image.new("RGBA", (round(wide + 2 * pad), round(size * 1.5)), (12, 14, 18, 150))
        draw = ImageDraw.Draw(image)
        draw.text((pad, image.height / 2), text, (246, 247, 248, 255), font, "lm")
    return image
