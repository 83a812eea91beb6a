"""Outside of /t/: the address on a guest's phone. Its tenant is sealed in the token."""

from django.urls import path

from portal.codes.public import guest_code

urlpatterns = [path("<str:token>/", guest_code, name="guest_code")]
