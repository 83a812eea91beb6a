"""Cameras. Specification: resource "Camera records", operations 29 to 33.

URLs are secrets: never store them unencrypted.
"""

from __future__ import annotations

from accessapi.resources.received import Identifier, Moment, Number, ReceivedModel, open_text


class CameraUsage(ReceivedModel):
    """Cumulative time in the current period; the unit of the totals is not shown."""

    since: Moment | None = None
    until: Moment | None = None
    tenant_streaming_total: Number | None = None
    tenant_streaming_limit: Number | None = None
    tenant_download_total: Number | None = None
    tenant_download_limit: Number | None = None


class Snapshot(ReceivedModel):
    camera_id: Identifier
    snapshot: str | None = None


class StreamingSession(ReceivedModel):
    camera_id: str | None = None
    streaming_url: str | None = None
    playback_type: str | None = open_text("live")
    expires_at: Moment | None = None


class CameraStatus(ReceivedModel):
    is_connected: bool | None = None
    is_streaming: bool | None = None


class HistoryVideo(ReceivedModel):
    camera_name: str | None = None
    video_url: str | None = None
