"""Register the work on members, groups and guests that goes on in the background."""

from portal.domain.people import refolding

refolding.REFOLDING.register()
