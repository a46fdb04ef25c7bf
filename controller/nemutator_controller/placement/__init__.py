"""Placement: which node suits a pod, in numbers for the scheduler and in words for people."""
