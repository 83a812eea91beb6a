"""What cameras show: pictures drawn from a camera and a time, and the addresses they are fetched from.

Nothing is stored. The same camera, time and people give the same picture, byte for byte, in every process.
"""
