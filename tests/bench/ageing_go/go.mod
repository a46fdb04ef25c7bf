module nemutator.io/bench/ageing

go 1.21
