return { n = given(1) }
