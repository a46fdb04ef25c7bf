"""Who is at the other end of a unix socket: facts of the kernel, and what they prove.

Whoever cannot be told for sure is refused, with the step that failed. A process is of a pod when
its control group stands where kubelet puts that pod's, counted from kubelet's own root: names that
are found anywhere else are names that somebody could have chosen.
"""
