#!/bin/sh
# The map of CONTRIBUTING.md names every folder of the sources, and every file and folder that it names is there.
set -eu
status=0
say() { if [ "$2" = yes ]; then echo "ok map: $1"; else status=1; echo "not ok map: $1: $3"; fi; }
for folder in gen/*/ gen/site/*/ calc/*/ kernels/*/; do
    case $folder in gen/site/ | */__pycache__/ | kernels/slurm/) continue ;; esac
    if grep -q "\`$folder\`" CONTRIBUTING.md; then say "$folder" yes; else say "$folder" no 'CONTRIBUTING.md does not say what it is for'; fi
done
# Names in capitals, patterns and commands stand for something else.
names=$(grep -o '`[a-z.][A-Za-z0-9_./-]*/[A-Za-z0-9_./-]*`' CONTRIBUTING.md | tr -d '`' | grep -v '[A-Z][A-Z]' | sort -u)
for name in $names; do
    # The first record makes this folder.
    if [ -e "$name" ] || [ "$name" = content/measurements/ ]; then say "$name is there" yes; else say "$name" no 'no such file or folder'; fi
done
exit $status
