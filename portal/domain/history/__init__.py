"""Parts of the activity log that several apps share."""
