def deep():
    return 1
