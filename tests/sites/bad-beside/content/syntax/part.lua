local a =
