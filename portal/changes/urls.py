from django.urls import path

from portal.changes import views

app_name = "changes"
urlpatterns = [
    path("", views.index, name="index"),
    path("new/<slug:act>/", views.ask, name="ask"),
    path("<int:job_id>/", views.page, name="page"),
    path("<int:job_id>/start/", views.start, name="start"),
    path("<int:job_id>/progress/", views.progress, name="progress"),
    path("<int:job_id>/stop/", views.stop, name="stop"),
    path("<int:job_id>/continue/", views.go_on, name="continue"),
    path("<int:job_id>/retry/", views.retry, name="retry"),
    path("<int:job_id>/undo/", views.undo, name="undo"),
    path("<int:job_id>/decide/", views.decide, name="decide"),
    path("<int:job_id>/discard/", views.discard, name="discard"),
]
