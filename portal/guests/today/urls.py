"""Addresses of this part of the desk, below /t/<tenant>/guests/."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
