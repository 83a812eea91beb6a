from django.urls import path

from tenants.support import views

app_name = "support"
urlpatterns = [
    path("allow/", views.allow, name="allow"),
    path("<int:pk>/end/", views.end, name="end"),
]
# Outside of tenants.
platform_urls = (
    [
        path("", views.home, name="index"),
        path("enter/<slug:slug>/", views.enter, name="enter"),
    ],
    "platform",
)
