"""`nemutator install` and `nemutator uninstall`: what the chart installs, by a kubeconfig alone."""
