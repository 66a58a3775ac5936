#!/bin/sh
# Every kernel compiled for each GPU architecture that is supported and that this toolkit knows, and as PTX for newer
# ones; a warning is an error. Needs no GPU; skipped without nvcc. The objects are kept below $BUILD/archs.
set -eu
nvcc=$(command -v nvcc || ls "${CUDA_HOME:-/nonexistent}/bin/nvcc" /usr/local/cuda/bin/nvcc 2>/dev/null | head -n 1)
[ -n "$nvcc" ] || { echo "skip archs: nvcc is not here"; exit 0; }
[ "${MODE:-release}" = release ] || { echo "skip archs: the release build compiles them"; exit 0; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT
folder=${MAKE_BUILD:-$BUILD}/archs
objects=
for source in kernels/*/*.cu; do objects="$objects $folder/$source.o"; done
# shellcheck disable=SC2086  # the names are words
if ! nice make -s -k -j2 BUILD="$folder" PROBE_ARCHS=all $objects >"$log" 2>&1; then
    grep -E 'error|warning' "$log" | head -n 20 || true
    echo "not ok archs: a kernel does not compile without warnings; see above"
    exit 1
fi
echo "ok archs: $(echo "$objects" | wc -w) files, no warnings"

known=$("$nvcc" --list-gpu-arch)
newest=
failed=0
for arch in 75 80 86 89 90 100 120; do
    case $known in *compute_$arch*) ;; *) echo "skip archs: this toolkit does not know sm_$arch"; continue ;; esac
    newest=$arch
    # ptxas leaves its command line in what it makes.
    missing=
    for object in $objects; do grep -aq -e "-arch sm_$arch " "$object" || missing="$missing $object"; done
    if ! grep -aq -e '-arch sm_' $objects; then echo "skip archs: sm_$arch: this ptxas leaves no trace of what it made"
    elif [ -z "$missing" ]; then echo "ok archs: sm_$arch"
    else echo "not ok archs: no machine code for sm_$arch in$missing"; failed=1; fi
done
if make -s -n -W kernels/cuda/update.cu BUILD="$folder" PROBE_ARCHS=all "$folder/kernels/cuda/update.cu.o" |
    grep -q "code=compute_$newest"; then echo "ok archs: PTX of compute_$newest for newer ones"
else echo "not ok archs: no PTX for newer GPUs"; failed=1; fi
exit $failed
