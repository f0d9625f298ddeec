#!/bin/bash
# Process 1 of a node, in namespaces of its own. Makes them look like a machine's, then keeps containerd, kubelet and kube-proxy running,
# as an init would. Set by the caller: NODE_NAME NODE_ADDRESS NODE_FOLDER VOLUMES PROGRAMS PACKAGES PART.
set -eu

mount -t tmpfs -o mode=755 tmpfs /run
mkdir /run/self /run/node /run/volumes /run/programs /run/netns /run/lock
# First everything from outside, wherever it is: the next mounts may hide its place.
mount --bind "$NODE_FOLDER" /run/self
mount --bind "$VOLUMES" /run/volumes
mount --bind "$PROGRAMS" /run/programs
mount -t overlay -o "ro,lowerdir=$PACKAGES/usr:/usr" overlay /usr
mount --bind /run/self/etc /run/node
mount --bind /run/self/lib /var/lib
mount --bind /run/self/log /var/log
mkdir -p /var/lib/volumes
mount --move /run/volumes /var/lib/volumes
if [ -e /etc/resolv.conf ]; then mount --bind /run/node/resolv.conf /etc/resolv.conf; fi

has_kvm=
if [ -c /dev/kvm ] && grep -qwE 'vmx|svm' /proc/cpuinfo; then has_kvm=yes; fi
mount -t tmpfs -o mode=755 tmpfs /dev
stat --format=%Hd:%Ld /dev >>/run/self/device-file-systems # by which loop devices on top of ours are known
mkdir /dev/net /dev/pts /dev/shm
while read -r name mode major minor; do
  mknod -m "$mode" "/dev/$name" c "$major" "$minor"
done <<'DEVICES'
null 666 1 3
zero 666 1 5
full 666 1 7
random 666 1 8
urandom 666 1 9
kmsg 600 1 11
tty 666 5 0
fuse 666 10 229
net/tun 666 10 200
loop-control 660 10 237
DEVICES
for ((number = 0; number < 64; number++)); do mknod -m 660 "/dev/loop$number" b 7 "$number"; done
if [ "$has_kvm" ]; then mknod -m 666 /dev/kvm c 10 232; fi
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts /dev/pts
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
ln -s pts/ptmx /dev/ptmx
ln -s /proc/self/fd /dev/fd
for name in stdin:0 stdout:1 stderr:2; do ln -s "/proc/self/fd/${name##*:}" "/dev/${name%%:*}"; done
mount -t tmpfs -o mode=1777 tmpfs /tmp
umount /run/self
mount --make-rshared /
hostname "$NODE_NAME"

# The cable is plugged in from outside.
until ip link show eth0 >/dev/null 2>&1; do sleep 0.02; done
ip link set lo up
ip address add "$NODE_ADDRESS/24" dev eth0
ip link set eth0 up
while read -r route; do
  # shellcheck disable=SC2086 -- the words of a route
  ip route add $route
done </run/node/routes
echo 1 >/proc/sys/net/ipv4/ip_forward

# Runs a program for ever; a file stopped-NAME beside the configuration keeps it from starting again.
keep() {
  local name=$1
  shift
  export KUBEVIRT_TS_CLUSTER_PART="$PART/$name"
  while :; do
    while [ -e "/run/node/stopped-$name" ]; do sleep 0.1; done
    ("$@") >>"/var/log/$name.log" 2>&1 </dev/null || :
    sleep 0.2
  done
}

start_kubelet() {
  until [ -S /run/containerd/containerd.sock ]; do sleep 0.05; done
  exec /run/programs/kubelet --config=/run/node/kubelet.json --kubeconfig=/run/node/kubelet.kubeconfig \
    --hostname-override="$NODE_NAME" --node-ip="$NODE_ADDRESS" --root-dir=/var/lib/kubelet
}

keep containerd containerd --config /run/node/containerd.toml &
keep kubelet start_kubelet &
keep kube-proxy /run/programs/kube-proxy --config=/run/node/kube-proxy.json &
# Reaps whatever has lost its parent.
while :; do wait || :; sleep 1; done
