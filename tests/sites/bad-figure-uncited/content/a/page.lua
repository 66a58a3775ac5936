return { n = given(1), m = given(2) }
