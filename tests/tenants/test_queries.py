"""Queries are the same as Django's own, although parts of them are cached."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.db.backends.postgresql.compiler import SQLCompiler
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Lower

from portal.domain.people.models import Group, Member
from portal.domain.places.models import Area
from tenants.models import Connection, Tenant, User
from tenants.scope import tenant_scope
from tests.support.places import Place, staff_of

pytestmark = pytest.mark.django_db

QUERIES: dict[str, Callable[[], QuerySet[Any]]] = {
    "all": Member.objects.all,
    "one": lambda: Member.objects.filter(pk=1)[:1],
    "ordered": lambda: Member.objects.order_by("-member_name", "pk"),
    "ordered by what is counted": lambda: Member.objects.annotate(n=Count("member_id")).order_by("n", "-pk"),
    "ordered by an expression": lambda: Member.objects.order_by(Lower("member_name").desc(nulls_last=True)),
    "ordered by a name it was given": lambda: Member.objects.values("pk", name=F("member_name")).order_by("name"),
    "some columns": lambda: Member.objects.only("member_id"),
    "all but some columns": lambda: Connection.objects.defer("access_token"),
    "with a row of another table": lambda: Connection.objects.select_related("environment", "tenant"),
    "beside a column of another table": lambda: Connection.objects.filter(tenant__slug="a").order_by("tenant__name"),
    "within another query": lambda: Member.objects.filter(pk__in=Member.objects.filter(member_name="a")),
    "within an order and a limit": lambda: Member.objects.filter(pk__in=Member.objects.order_by("member_name")[:3]),
    "beside itself": lambda: Member.objects.filter(Exists(Member.objects.filter(member_id=OuterRef("member_id")))),
    "with a column of itself": lambda: Area.objects.annotate(
        other=Subquery(Area.objects.filter(area_id=OuterRef("area_id")).values("area_name")[:1])
    ),
    "two at once": lambda: Group.objects.filter(pk=1).union(Group.objects.filter(pk=2)).order_by("membergroup_id"),
    "each once": lambda: Group.objects.order_by("membergroup_id").distinct("membergroup_id"),
    "one or the other": lambda: Member.objects.filter(Q(pk=1) | ~Q(member_id="b")).reverse(),
    "to be changed": lambda: Member.objects.select_for_update(of=("self",), skip_locked=True),
    "of all tenants": lambda: Tenant.objects.order_by("name"),
    "with a fixed column": lambda: User.objects.extra(select={"one": "1"}, order_by=["one"]),
}  # fmt: skip


@pytest.mark.parametrize("what", QUERIES)
def test_a_query_is_what_django_makes_of_it(what: str, place: Place) -> None:
    with tenant_scope(place.tenant):
        for _ in range(2):  # first created, then from the cache
            ours, theirs = QUERIES[what](), QUERIES[what]()
            django = SQLCompiler(theirs.query, connection, "default").as_sql()
            assert ours.query.get_compiler("default").as_sql() == django
            assert ours.count() == len(ours)


def test_a_query_that_was_kept_is_the_entered_tenants(place: Place, make: Callable[..., Place]) -> None:
    other = make(members=0)
    for each in (place, other, place, other):
        with tenant_scope(each.tenant):
            assert Connection.objects.get().tenant_id == each.tenant.pk
            assert Connection.objects.filter(environment__name=each.tenant.slug).order_by("pk").first()


def test_what_narrows_one_query_narrows_no_other(place: Place) -> None:
    with tenant_scope(place.tenant):
        staff_of(place.tenant, "guard")
        rows = place.tenant.staff_set.all()
        assert rows.filter(role="guard").count() == 1
        assert rows.count() == place.tenant.staff_set.count() == 2
