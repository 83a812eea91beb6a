"""Register the app's parts that other apps run or show."""

from portal.domain.cameras import clips, door_command_pictures, panel, refreshing

clips.register()
door_command_pictures.register()
panel.register()
refreshing.register()
