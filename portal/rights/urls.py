from django.urls import include, path

from portal.rights.views import compare, editor, templates

_of_member = [
    path("", editor.edit, name="edit"),
    path("words/", editor.preview, name="words"),
]
_of_tenant = [
    path("words/", editor.preview_schedules, name="words"),
    path("compare/", compare.compare, name="compare"),
    path("copy/", compare.copy, name="copy"),
    path("templates/", templates.templates, name="templates"),
    path("templates/new/", templates.new_template, name="template_new"),
    path("templates/<int:pk>/", templates.edit_template, name="template"),
    path("templates/<int:pk>/delete/", templates.delete_template, name="template_delete"),
    path("templates/from/<sid:member_id>/", templates.template_from_member, name="template_from"),
]
urlpatterns = [
    path("members/<sid:member_id>/rights/", include((_of_member, "member_rights"))),
    path("rights/", include((_of_tenant, "rights"))),
]
