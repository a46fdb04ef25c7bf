"""Who is at the other end of a unix socket: facts of the kernel, and what they prove.

A caller whose identity is not certain is refused, and the refusal names the step that failed. A
process belongs to a pod when its control group is where kubelet puts that pod's, counted from
kubelet's own root: a name that is found anywhere else could be anybody's choice.
"""
