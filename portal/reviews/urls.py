from django.urls import path

from portal.reviews import reviewer_views, views

app_name = "reviews"
urlpatterns = [
    path("", views.index, name="index"),
    path("new/", views.new, name="new"),
    path("mine/", reviewer_views.mine, name="mine"),
    path("<int:review_id>/", views.page, name="page"),
    path("<int:review_id>/progress/", views.progress, name="progress"),
    path("<int:review_id>/items/<int:item_id>/", views.item, name="item"),
    path("<int:review_id>/change/", views.change, name="change"),
    path("<int:review_id>/assign/", views.assign, name="assign"),
    path("<int:review_id>/groups/", views.groups, name="groups"),
    path("<int:review_id>/withdrawals/<sid:area_id>/", views.withdrawals, name="withdrawals"),
    path("<int:review_id>/finish/", views.finish, name="finish"),
    path("<int:review_id>/cancel/", views.cancel, name="cancel"),
    path("<int:review_id>/report/", views.report, name="report"),
    path("<int:review_id>/report/file/", views.report_file, name="file"),
    path("<int:review_id>/mine/", reviewer_views.decide, name="decide"),
    path("<int:review_id>/mine/press/", reviewer_views.press, name="press"),
    path("<int:review_id>/mine/confirm/", reviewer_views.confirm_many, name="confirm_many"),
    path("<int:review_id>/mine/withdraw/", reviewer_views.withdraw_many, name="withdraw_many"),
    path("<int:review_id>/mine/delegate/", reviewer_views.delegate, name="delegate"),
    path("<int:review_id>/mine/<int:item_id>/", reviewer_views.my_item, name="my_item"),
]
