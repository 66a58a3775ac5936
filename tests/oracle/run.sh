#!/bin/sh
# Runs python of one virtual environment on the null CUDA: run.sh VENV SCRIPT [ARGUMENT...]
set -eu
venv=$1
shift
export LD_PRELOAD="$venv/null/libcuda.so.1" LD_LIBRARY_PATH="$venv/null" TRITON_LIBCUDA_PATH="$venv/null"
export HF_HUB_OFFLINE=1 TRANSFORMERS_OFFLINE=1 TOKENIZERS_PARALLELISM=false WANDB_DISABLED=true
export TRANSFORMERS_VERBOSITY=error PYTHONPATH="$(cd "$(dirname "$0")" && pwd)${PYTHONPATH:+:$PYTHONPATH}"
exec "$venv/bin/python" "$@"
