"""What happens by itself as time passes, and what people do at devices. All of it is in the database."""
