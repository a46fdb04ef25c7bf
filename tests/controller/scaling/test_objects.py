import msgspec
from nemutator_controller.scaling.objects import FORECAST_SCALERS


def test_a_forecast_scaler_is_read_with_what_its_status_says() -> None:
    document = (
        b'{"metadata": {"name": "web", "namespace": "shop"}, "spec": {"target": "web"},'
        b' "status": {"base": 2, "skillPercent": 80, "forecast": {"now": "500m"},'
        b' "conditions": [{"type": "Ready", "status": "True"}]}}'
    )
    found = msgspec.json.decode(document, type=FORECAST_SCALERS.shape)
    assert (found.spec, found.status.base, found.status.wanted) == ({"target": "web"}, 2, None)
    assert (found.status.skill_percent, found.status.forecast.now) == (80, "500m")
    assert found.status.conditions[0].type == "Ready"
    assert FORECAST_SCALERS.path("shop", "web", "status") == (
        "/apis/nemutator.io/v1alpha1/namespaces/shop/forecastscalers/web/status"
    )
