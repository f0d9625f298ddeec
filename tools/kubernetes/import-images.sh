#!/bin/bash
# Imports image archives into a new containerd store. Runs in mount and pid namespaces of its own, so nothing of it is left on the machine.
# Arguments: the folder to work in (the store becomes its `store`), then the archives.
set -eu
work=$1
shift
mount -t tmpfs tmpfs /run
cat >/run/config.toml <<EOF
version = 2
root = "$work/store"
state = "/run/containerd"
disabled_plugins = ["io.containerd.grpc.v1.cri"]
[grpc]
  address = "/run/containerd.sock"
EOF
containerd --config /run/config.toml >"$work/log" 2>&1 &
daemon=$!
tries=0
until ctr -a /run/containerd.sock version >/dev/null 2>&1; do
  tries=$((tries + 1))
  if [ $tries -gt 600 ]; then
    tail -5 "$work/log" >&2
    exit 1
  fi
  sleep 0.1
done
for archive; do ctr -a /run/containerd.sock -n k8s.io images import "$archive" >/dev/null; done
kill $daemon
wait $daemon || :
