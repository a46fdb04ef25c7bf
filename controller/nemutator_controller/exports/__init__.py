"""Files for other programs, written each hour into a store of objects: what was used, what is advised, what was changed."""
