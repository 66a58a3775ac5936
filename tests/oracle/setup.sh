#!/bin/sh
# Builds the null CUDA and the recorder for one virtual environment: setup.sh VENV [CXX...]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
venv=$1
site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
out=$venv/null
mkdir -p "$out"
includes=''
for d in "$site"/nvidia/cu13/include "$site"/nvidia/cuda_runtime/include "$site"/nvidia/cublas/include \
         "$site"/triton/backends/nvidia/include "$site"/torch/include "$site"/torch/include/torch/csrc/api/include; do
    [ -d "$d" ] && includes="$includes -I$d"
done
# Everything that the installed binaries leave to CUDA's libraries and nullcuda*.c do not define.
objects=''
for part in nullcuda nullcuda_memory nullcuda_streams nullcuda_driver nullcuda_libraries; do
    # shellcheck disable=SC2086
    gcc -O2 -fPIC -w $includes -c "$here/$part.c" -o "$out/$part.o"
    objects="$objects $out/$part.o"
done
# shellcheck disable=SC2086
nm --defined-only $objects | awk '$2 == "T" {print $3}' | sort -u >"$out/have"
{
    for l in "$site"/torch/lib/lib*.so "$site"/bitsandbytes/libbitsandbytes_cuda*.so "$site"/*/*.so "$site"/*.so; do
        [ -f "$l" ] && nm -D --undefined-only "$l" 2>/dev/null
    done | awk '{sub(/@.*/, "", $2); print $2}'
    cat "$site"/triton/backends/nvidia/driver.c "$site"/triton/backends/nvidia/driver.py 2>/dev/null |
        grep -oE '\bcu[A-Z][A-Za-z0-9]+(_v[0-9])?\b' || true
    printf '%s\n' cuMemMap cuMemSetAccess cuMemUnmap cuMemRelease cuInit cuLaunchKernel cuLaunchKernelEx cuModuleUnload
} | grep -E '^(__cuda[A-Z]|cuda[A-Z]|cublas[A-Z]|p?nccl[A-Z]|cu(Ctx|Device|Driver|Event|Func|Get|Graph|Init|Kernel|Launch|Library|Link|Mem|Module|Multicast|Occupancy|Pointer|Stream|TensorMap)[A-Za-z0-9_]*$)' |
    grep -v -E '_t$' | sort -u | comm -23 - "$out/have" >"$out/rest"
{
    echo '/* Written by setup.sh: what the installed binaries ask CUDA for and nullcuda*.c do not answer. */'
    echo '#include <stdio.h>'
    echo '#include <stdlib.h>'
    while read -r name; do
        printf 'long %s(void) { static int told; if (!told++ && getenv("NULLCUDA_VERBOSE")) fputs("nullcuda: %s\\n", stderr); return 0; }\n' "$name" "$name"
    done <"$out/rest"
} >"$out/nullcuda_rest.c"
gcc -O2 -fPIC -w -c "$out/nullcuda_rest.c" -o "$out/nullcuda_rest.o"
# shellcheck disable=SC2086
gcc -shared -o "$out/libcuda.so.1" -Wl,-soname,libcuda.so.1 $objects "$out/nullcuda_rest.o" -ldl -lpthread
ln -sf libcuda.so.1 "$out/libcuda.so"
if [ -f "$here/recorder.cpp" ]; then
    abi=$("$venv/bin/python" -c 'import torch; print(int(torch._C._GLIBCXX_USE_CXX11_ABI))')
    std=$("$venv/bin/python" -c 'import torch; v=torch.__version__.split("."); print(20 if (int(v[0]), int(v[1])) >= (2, 9) else 17)')
    # shellcheck disable=SC2086
    g++ -O1 -fPIC -w -shared -std=c++"$std" -D_GLIBCXX_USE_CXX11_ABI="$abi" $includes "$here/recorder.cpp" \
        -o "$out/recorder.so" -L"$site/torch/lib" -lc10_cuda -lc10 -ltorch_cpu
fi
