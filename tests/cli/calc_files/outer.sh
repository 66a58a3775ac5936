#!/bin/bash
source env.sh
srun ./train_inner.sh
