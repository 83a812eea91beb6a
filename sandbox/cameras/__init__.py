"""Pictures of cameras, drawn from a camera and a time, and their addresses.

Nothing is stored. The same camera, time and people give the same picture, byte for byte, in every process.
"""
