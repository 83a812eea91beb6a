"""Safety rules: settings that one person alone may not loosen."""
