"""Models of the log's pages: saved searches."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from tenants.models import TenantModel

NAME_MAX, QUERY_MAX = 60, 2000


class SavedSearch(TenantModel):
    """Named filters of the log, shared in the tenant. `query` is the address's query, in its order."""

    name = models.CharField(max_length=NAME_MAX)
    query = models.CharField(max_length=QUERY_MAX)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "name"], name="history_one_search_a_name")]

    def __str__(self) -> str:
        return self.name
