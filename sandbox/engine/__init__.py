"""Events that happen as time passes, and actions of people at devices. All of it is in the database."""
