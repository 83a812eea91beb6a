"""What cameras show: pictures drawn from a camera and a moment, and the media addresses they are fetched from.

Nothing is stored. The same camera, moment and passers give the same picture, byte for byte, in every process.
"""
