local a = 1
return {n = a + nil}
