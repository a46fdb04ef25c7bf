"""`nemutator place`: which nodes suit a pod, and why."""
