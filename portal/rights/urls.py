from django.urls import include, path

from portal.rights import views, views_compare, views_templates

_of_member = [
    path("", views.edit, name="edit"),
    path("words/", views.followed, name="words"),
]
_of_tenant = [
    path("words/", views.phrases, name="words"),
    path("compare/", views_compare.compare, name="compare"),
    path("copy/", views_compare.copy, name="copy"),
    path("templates/", views_templates.index, name="templates"),
    path("templates/new/", views_templates.new, name="template_new"),
    path("templates/<int:pk>/", views_templates.edit, name="template"),
    path("templates/<int:pk>/delete/", views_templates.delete, name="template_delete"),
    path("templates/from/<sid:member_id>/", views_templates.from_member, name="template_from"),
]
urlpatterns = [
    path("members/<sid:member_id>/rights/", include((_of_member, "member_rights"))),
    path("rights/", include((_of_tenant, "rights"))),
]
