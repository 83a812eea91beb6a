#!/usr/bin/env python
"""Commands of the sandbox: migrate, seed, serve."""

import os
import sys
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

HERE = Path(__file__).resolve().parent


def main() -> None:
    # The package is imported as `sandbox` from the repository's root, never as loose modules of this folder.
    sys.path[:] = [str(HERE.parent), *(entry for entry in sys.path if Path(entry or ".").resolve() != HERE)]
    os.environ["DJANGO_SETTINGS_MODULE"] = "sandbox.settings"
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
