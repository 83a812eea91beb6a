from django.urls import path

from portal.reports import views

app_name = "reports"
urlpatterns = [
    path("", views.index, name="index"),
    path("new/<str:kind>/", views.new, name="new"),
    path("schedule/<str:kind>/", views.schedule, name="schedule"),
    path("schedules/<int:pk>/", views.change, name="change"),
    path("schedules/<int:pk>/end/", views.end, name="end"),
    path("schedules/<int:pk>/send/", views.send_now, name="send_now"),
    path("<int:pk>/", views.page, name="page"),
    path("<int:pk>/progress/", views.progress, name="progress"),
    path("<int:pk>/<str:form>/", views.download, name="download"),
]
