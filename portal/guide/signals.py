"""Register the app's parts that other apps run or show."""

from portal.base.ui import frame
from portal.guide import views

frame.register_guide(views.help_link)
