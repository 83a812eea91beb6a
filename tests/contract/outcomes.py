"""What can come of a case besides passing. Each names the operation that it is said of."""


class Outcome(Exception):
    """The end of a case: `operation` is the name in the table, `reason` a sentence for the report."""

    def __init__(self, operation: str, reason: str) -> None:
        super().__init__(reason)
        self.operation = operation
        self.reason = reason


class Differs(Outcome):
    """The service does something other than the specification shows; the reason says what was expected and got."""


class NotOffered(Outcome):
    """There is no route: 404, 405 or 501 to a valid request."""


class NotTried(Outcome):
    """Nothing can be said: what the case needs is missing."""


class Unneeded(NotTried):
    """What nobody misses: only a second tenant, or another overrides file, could show it."""


class Limited(NotTried):
    """The calls of this hour are used up, but for those that cleaning up needs."""


class Unreachable(Exception):
    """Nobody answers at the base address."""
