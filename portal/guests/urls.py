"""Below /t/<tenant>/guests/. Words come before ids: `<sid:guest_id>/` takes whatever no part of the desk has named."""

from portal.guests.codes.urls import urlpatterns as codes
from portal.guests.expected.urls import urlpatterns as expected
from portal.guests.today.urls import urlpatterns as today

app_name = "guests"
urlpatterns = [*today, *expected, *codes]
