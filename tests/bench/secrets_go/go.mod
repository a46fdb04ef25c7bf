module secrets_bench

go 1.21
