"""The back office under /admin/; the shop, a page whose script speaks JSON; and what it speaks to."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import TemplateView
from rest_framework import routers, serializers, viewsets
from rest_framework_simplejwt.views import TokenObtainPairView, TokenRefreshView

from .models import Item, Order


class ItemSerializer(serializers.ModelSerializer):
    class Meta:
        model = Item
        fields = "__all__"


class OrderSerializer(serializers.ModelSerializer):
    class Meta:
        model = Order
        fields = "__all__"


class Items(viewsets.ReadOnlyModelViewSet):
    queryset = Item.objects.order_by("id")[:50]
    serializer_class = ItemSerializer


class Orders(viewsets.ModelViewSet):
    queryset = Order.objects.order_by("-made")
    serializer_class = OrderSerializer


router = routers.DefaultRouter()
router.register("items", Items)
router.register("orders", Orders)

urlpatterns = [
    path("admin/", admin.site.urls),
    path("shop/", TemplateView.as_view(template_name="shop.html")),
    path("api/token/", TokenObtainPairView.as_view()),
    path("api/token/refresh/", TokenRefreshView.as_view()),
    path("api/", include(router.urls)),
]
