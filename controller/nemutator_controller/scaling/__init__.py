"""Minimums of HorizontalPodAutoscalers that rise before a peak that is foreseen, and replicas for which there is spare CPU."""
