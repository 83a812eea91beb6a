"""The outcomes of a case besides passing. Each names the operation that it is about."""


class Outcome(Exception):
    """The end of a case: `operation` is the name in the table, `reason` a sentence for the report."""

    def __init__(self, operation: str, reason: str) -> None:
        super().__init__(reason)
        self.operation = operation
        self.reason = reason


class Differs(Outcome):
    """The service does something other than the specification shows. The reason gives the expected and the actual."""


class NotOffered(Outcome):
    """There is no route: 404, 405 or 501 to a valid request."""


class NotTried(Outcome):
    """The case could not be tried, because something that it needs is missing."""


class Unneeded(NotTried):
    """The case was not tried and no one misses it: it needs a second tenant, or another overrides file."""


class Limited(NotTried):
    """The calls of this hour are used up, except those reserved for cleaning up."""


class Unreachable(Exception):
    """No server answers at the base address."""
