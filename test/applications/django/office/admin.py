"""The back office: pages of django.contrib.admin."""

from django.contrib import admin

from .models import Item, Order

admin.site.register(Item, search_fields=["name"])
admin.site.register(Order, list_display=["id", "item", "quantity", "made"])
