batch_size = 12
block_size = len(data)
