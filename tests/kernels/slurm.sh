#!/bin/sh
# kernels/slurm on a real Slurm: one node, four fake GPUs, the probe in its no-device mode. Skipped without Slurm, the
# probe, or root; or where a GPU is, since then the probes would measure for an hour.
set -eu
skip() { echo "skip slurm: $*"; exit 0; }
for program in slurmctld slurmd sbatch scontrol; do
    command -v $program >/dev/null 2>&1 || [ -x /usr/sbin/$program ] || skip "$program is not here (Debian: slurm-wlm)"
done
[ "$(id -u)" = 0 ] || skip "root is wanted to start slurmd"
[ -x "$BUILD/vramprobe" ] || skip "vramprobe was not built"
[ ! -e /dev/nvidia0 ] || skip "a GPU is here"
PATH=$PATH:/usr/sbin
work=$(mktemp -d)
failed=0
stop() {
    for pid in "$work"/*.pid; do [ ! -e "$pid" ] || kill "$(cat "$pid")" 2>/dev/null || true; done
    sleep 1
    rm -rf "$work"
}
trap stop EXIT
case_of() { if [ "$2" = "$3" ]; then echo "ok slurm: $1"; else echo "not ok slurm: $1: wanted $3, got $2"; failed=1; fi; }

mkdir -p "$work/state" "$work/spool"
export SLURM_CONF="$work/slurm.conf"
cat >"$SLURM_CONF" <<END
ClusterName=probe
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/ctld.pid
SlurmdPidFile=$work/d.pid
SlurmctldLogFile=$work/ctld.log
SlurmdLogFile=$work/d.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MailProg=/bin/true
GresTypes=gpu
ReturnToService=2
NodeName=$(hostname -s) NodeAddr=127.0.0.1 CPUs=$(nproc) Gres=gpu:4 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
END
for i in 0 1 2 3; do mknod "$work/gpu$i" c 1 3 2>/dev/null || skip "no device files can be made here"; done
echo "Name=gpu File=$work/gpu[0-3]" >"$work/gres.conf"
slurmctld -c || skip "slurmctld does not start here"
slurmd || skip "slurmd does not start here"
for _ in $(seq 60); do
    [ "$(sinfo -h -o %T 2>/dev/null)" = idle ] && break
    sleep 0.5
done
[ "$(sinfo -h -o %T 2>/dev/null)" = idle ] || { tail -n 3 "$work"/*.log; skip "the node does not come up here"; }

cd "$work"
"$ROOT/kernels/slurm/submit.sh" -n 4 -o records -p "$BUILD/vramprobe" -- --gres=gpu:1 >submitted
case_of "two jobs are submitted" "$(grep -c 'probes: job [0-9]*, merging: job [0-9]*' submitted)" 1
for _ in $(seq 240); do
    [ -z "$(squeue -h 2>/dev/null)" ] && break
    sleep 0.5
done
case_of "all jobs end" "$(squeue -h | wc -l | tr -d ' ')" 0
case_of "one record for each task" "$(ls records/part-*.json 2>/dev/null | wc -l | tr -d ' ')" 4
case_of "they are merged" "$(ls records/merged-*.json 2>/dev/null)" records/merged-no-device.json
rc=0
"$BUILD/vramprobe" validate records/*.json >valid || rc=$?
case_of "all are valid" "$rc $(wc -l <valid | tr -d ' ')" "0 5"
rc=0
"$ROOT/kernels/slurm/submit.sh" -n none 2>error || rc=$?
case_of "a wrong number of tasks" "$rc $(wc -l <error | tr -d ' ')" "2 1"
exit $failed
