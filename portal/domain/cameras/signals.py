"""Register the cameras' parts that other apps run or show."""

from portal.base.timers import rounds, timer_registry
from portal.base.ui import panels
from portal.domain.cameras import clips, door_command_pictures, refreshing
from portal.domain.cameras.panel import draw_cameras_of_door, draw_video_of_record
from portal.domain.safety import rules

timer_registry.register("clips", clips.DUE.check_due, every=5.0, queue="sync", due_rows=clips.DUE.querysets)
rules.register(door_command_pictures.RULE)
timer_registry.register(
    "command_pictures",
    door_command_pictures.DUE.check_due,
    every=5.0,
    queue="sync",
    due_rows=door_command_pictures.DUE.querysets,
)
panels.register("door", draw_cameras_of_door)
panels.register("record", draw_video_of_record)
timer_registry.register(
    "cameras_in_sight", refreshing.check_due, every=10.0, queue="sync", due_rows=refreshing.rows_in_sight
)
rounds.register("camera_leftovers", refreshing.delete_old, every=1800.0, queue="sync")
