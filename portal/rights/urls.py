from django.urls import include, path

from portal.rights import views

_of_member = [
    path("", views.edit, name="edit"),
    path("words/", views.preview, name="words"),
]
_of_tenant = [
    path("words/", views.preview_schedules, name="words"),
    path("compare/", views.compare, name="compare"),
    path("copy/", views.copy, name="copy"),
    path("templates/", views.templates, name="templates"),
    path("templates/new/", views.new_template, name="template_new"),
    path("templates/<int:pk>/", views.edit_template, name="template"),
    path("templates/<int:pk>/delete/", views.delete_template, name="template_delete"),
    path("templates/from/<sid:member_id>/", views.template_from_member, name="template_from"),
]
urlpatterns = [
    path("members/<sid:member_id>/rights/", include((_of_member, "member_rights"))),
    path("rights/", include((_of_tenant, "rights"))),
]
