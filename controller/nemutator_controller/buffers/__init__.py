"""Room that is kept free by pods of low priority, as large as the season asks for."""
