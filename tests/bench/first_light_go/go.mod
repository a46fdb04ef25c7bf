module first_light

go 1.21
