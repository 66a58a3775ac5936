#!/bin/sh
#SBATCH --job-name=vramprobe
#SBATCH --ntasks=1
#SBATCH --time=02:00:00
#SBATCH --requeue
# One probe of the array: PROBE FOLDER EXPERIMENTS. It is called again until nothing is left (exit status 75); a job that
# is requeued goes on where it stopped, because the state folder belongs to the task's number.
set -eu
probe=$1 folder=$2
task=${SLURM_ARRAY_TASK_ID:-1}
record=$folder/part-$task.json
rc=75
while [ $rc -eq 75 ]; do
    rc=0
    # shellcheck disable=SC2086  # the experiments are words
    "$probe" run $3 --force --state "$folder/state-$task" -o "$record" || rc=$?
done
echo "$(hostname): task $task ended with $rc"
[ $rc -eq 77 ] || exit $rc  # without a GPU the record says so, and that is no failure of the job
