#!/bin/sh
# room.sh ROOT WORK: a machine of its own out of a folder with a Debian: mounts, processes and network that it shares with nobody, and what it writes goes to WORK.
# Becomes its first process. Not a chroot, in which the kernel lets nobody make user namespaces.
set -eu
root=$1 work=$2
mkdir -p "$work/upper" "$work/work" "$work/root"
mount --make-rprivate /
mount -t overlay overlay -o "lowerdir=$root,upperdir=$work/upper,workdir=$work/work" "$work/root"
cd "$work/root"
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t tmpfs -o mode=755 dev dev
mkdir dev/net dev/pts dev/shm
mknod -m 666 dev/null c 1 3
mknod -m 666 dev/zero c 1 5
mknod -m 666 dev/full c 1 7
mknod -m 666 dev/random c 1 8
mknod -m 666 dev/urandom c 1 9
mknod -m 666 dev/tty c 5 0
mknod -m 666 dev/net/tun c 10 200
# Debian's is open to the group kvm; so is this one, to the user's own group.
if [ -e /dev/kvm ]; then mknod -m 660 dev/kvm c 10 232 && chown 0:1000 dev/kvm; fi
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mount -t tmpfs -o mode=1777 shm dev/shm
mount -t tmpfs -o mode=1777 tmp tmp
ip link set lo up
pivot_root . mnt
umount -l /mnt
echo ready
# Nobody waits for the orphans that are its children.
exec env --ignore-signal=CHLD sleep infinity >/dev/null
