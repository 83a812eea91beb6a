"""The parts that every area of work uses. Nothing here knows an area of work."""
