"""`nemutator scalers`: what ForecastScalers foresee, and which minimums they raise."""
