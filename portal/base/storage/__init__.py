"""Files that workers make: written encrypted, read, offered for download, and deleted."""
