"""Register the app's parts that other apps run or show."""

from portal.domain.intents import due_intents

due_intents.register()
