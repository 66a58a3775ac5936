# the first line
a = 1
b = 2
# --8<-- [start:sum]
def sum(a, b):
    # --8<-- [start:inside]
    return a + b
    # --8<-- [end:inside]
# --8<-- [end:sum]
c = 3
