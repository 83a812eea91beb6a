from django.urls import path

from portal.base.ui import component_gallery, views

app_name = "ui"
urlpatterns = [
    path("look/", views.save_look, name="look"),
    path("look/lists/<slug:name>/", views.save_list_choice, name="list_choice"),
    path("look/menu/", views.save_menu, name="menu"),
    path("switch/", views.switcher, name="switcher"),
    path("find/", views.find, name="palette"),
    path("_components/", component_gallery.index, name="components"),
    path("_components/<slug:part>/", component_gallery.part, name="component"),
]
# Mounted under the URL of a tenant.
urls_of_tenant = [
    path("find/", views.find_in_tenant, name="find"),
    path("banners/", views.banners_of_tenant, name="banners"),
]
