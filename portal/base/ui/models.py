"""A person's settings for how the portal looks; none of them belong to a tenant."""

from typing import ClassVar

from django.conf import settings
from django.db import models


class ListChoice(models.Model):
    """A person's columns and page size for one kind of list, in every tenant."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    table = models.CharField(max_length=60)
    columns = models.JSONField(default=list)
    size = models.PositiveSmallIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["user", "table"], name="one_choice_per_person_and_list")
        ]

    def __str__(self) -> str:
        return f"{self.table} of {self.user_id}"
