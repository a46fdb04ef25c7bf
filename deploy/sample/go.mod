module nemutator.io/sample/shop

go 1.21
