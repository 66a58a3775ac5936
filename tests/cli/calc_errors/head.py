# model
n_layer = 6
n_head = 5
