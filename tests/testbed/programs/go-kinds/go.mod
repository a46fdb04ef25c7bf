module nemutator.io/testbed/go-kinds

go 1.24
