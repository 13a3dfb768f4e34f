#!/bin/bash
# The first process of a node, in mount, PID, IPC and UTS namespaces of its own (see node.ts). The node shares the
# host's root, so everything a kubelet or a pod writes is laid over it from the node's own folder.
# Environment: NODE, NODE_FOLDER, LOG_FOLDER, BIN_ROOT, BIN_FOLDERS (names under BIN_ROOT), ADDRESS, POD_NETWORK,
# SERVICE_NETWORK.
set -eu

mount --make-rprivate /
mount -t proc proc /proc
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/lock /run/carrel/node /run/carrel/bin /run/carrel/log
mount --bind "$NODE_FOLDER" /run/carrel/node
mount --bind "$BIN_ROOT" /run/carrel/bin
mount --bind "$LOG_FOLDER" /run/carrel/log
cd /run/carrel/node
mount --bind log /var/log
mount --bind lib /var/lib
mkdir -p /var/lib/kubelet /var/lib/cni /var/lib/containerd /var/lib/volumes
mount -t tmpfs tmpfs /var/lib/cni # addresses of pods: a machine that was switched off has none left
mount --bind /var/lib/kubelet /var/lib/kubelet
mount --make-rshared /var/lib/kubelet
hostname "$NODE"
echo 1 >/proc/sys/net/ipv4/ip_forward

for folder in $BIN_FOLDERS; do PATH=/run/carrel/bin/$folder:$PATH; done
export PATH

# Runs a component for ever, as a real machine's init would.
supervise() {
  local name=$1
  shift
  while true; do
    "$@" >>"/run/carrel/log/$NODE-$name.log" 2>&1 || true
    sleep 1
  done
}

# Switching off: everything is asked to end and has ten seconds; what is left dies with this process.
switch_off() {
  trap '' TERM
  kill -TERM -1 2>/dev/null || true
  local i
  for i in $(seq 100); do
    [ "$(ls -d /proc/[0-9]* | wc -l)" -le 3 ] && break # this shell, and the pipe that counts
    sleep 0.1
  done
  exit 0
}
trap switch_off TERM

supervise containerd containerd --config containerd.toml &
for _ in $(seq 300); do [ -S /run/containerd/containerd.sock ] && break; sleep 0.1; done
supervise kubelet kubelet --config kubelet.yaml --kubeconfig pki/kubelet.conf --hostname-override "$NODE" --node-ip "$ADDRESS" &
supervise kube-proxy kube-proxy --kubeconfig pki/kube-proxy.conf --proxy-mode nftables --cluster-cidr "$POD_NETWORK" \
  --hostname-override "$NODE" --conntrack-max-per-core 0 --oom-score-adj 0 &
# NetworkPolicy by iptables and ipset. It ends until its node is registered, and is started again.
supervise kube-router kube-router --run-router=false --run-firewall=true --run-service-proxy=false \
  --kubeconfig=pki/kube-router.conf --hostname-override="$NODE" --service-cluster-ip-range="$SERVICE_NETWORK" &
while true; do wait || true; done
