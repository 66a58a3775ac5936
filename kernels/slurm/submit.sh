#!/bin/sh
# Measures many GPUs at once: a Slurm job array runs one probe for each node or GPU, then one job merges the records.
# usage: kernels/slurm/submit.sh [-n TASKS] [-o FOLDER] [-p PROBE] [-e "EXPERIMENT ..."] [-- SBATCH OPTIONS]
#   -n TASKS    how many probes run (1)
#   -o FOLDER   where the records go; it must be seen from every node (vramprobe-records)
#   -p PROBE    the program, seen from every node (build/vramprobe of this clone)
#   -e "..."    only these experiments
#   the rest    goes to sbatch as it is: --gres=gpu:1 for one GPU a probe, --exclusive for a whole node, -p PARTITION ...
# Prints the numbers of the two jobs. Afterwards FOLDER/merged-GPU.json has one record for each kind of GPU.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tasks=1 folder=vramprobe-records probe=$here/../../build/vramprobe experiments=
while getopts n:o:p:e: option; do
    case $option in
    n) tasks=$OPTARG ;;
    o) folder=$OPTARG ;;
    p) probe=$OPTARG ;;
    e) experiments=$OPTARG ;;
    *) sed -n '2,9s/^# //p' "$0" >&2; exit 2 ;;
    esac
done
shift $((OPTIND - 1))
case $tasks in '' | *[!0-9]* | 0) echo "submit.sh: error: -n $tasks: a whole number above 0 is wanted" >&2; exit 2 ;; esac
[ -x "$probe" ] || { echo "submit.sh: error: $probe is not there: build it, or name it with -p" >&2; exit 3; }
probe=$(cd "$(dirname "$probe")" && pwd)/$(basename "$probe")
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

array=$(sbatch --parsable --array="1-$tasks" --output="$folder/log-%a.txt" "$@" \
    "$here/probe.sh" "$probe" "$folder" "$experiments")
merge=$(sbatch --parsable --dependency="afterany:$array" --output="$folder/log-merge.txt" \
    "$here/merge.sh" "$probe" "$folder")
echo "probes: job $array, merging: job $merge, records: $folder"
