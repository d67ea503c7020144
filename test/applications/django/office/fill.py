"""Makes the tables, who works in the office, and what it sells."""

import django
from django.core.management import call_command

django.setup()

from django.contrib.auth.models import User  # noqa: E402  needs the setup

from .models import Item  # noqa: E402

call_command("migrate", run_syncdb=True, verbosity=0)
for name in ["alice", "bob", "carol"]:
    User.objects.create_superuser(name, password=f"{name}'s secret & more")
Item.objects.bulk_create(Item(name=f"Item {n}", price=n) for n in range(1, 41))
