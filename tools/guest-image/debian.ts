/** A real Debian as a disk: installed by mmdebstrap, which needs no installation itself, and no mount of ours. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../src/base/errors.ts';
import { findProgram } from '../../src/base/node/find-program.ts';
import { QUICK_KERNEL_ARGUMENTS, writeBootDisk } from './disk.ts';
import { DISK_TOOLS } from './guests.ts';
import { mmdebstrap } from './mmdebstrap.ts';
import { unpackPackages } from './packages.ts';

const PACKAGES = [
  ...['systemd-sysv', 'systemd-resolved', 'dbus', 'udev', 'kmod', 'iproute2', 'login', 'passwd', 'sudo', 'e2fsprogs'],
  ...['linux-image-cloud-amd64', 'initramfs-tools', 'busybox'],
  ...['cloud-init', 'cloud-guest-utils', 'qemu-guest-agent', 'openssh-server'],
];
const ENABLED = ['systemd-networkd.service', 'serial-getty@ttyS0.service', 'guest-ready.service'];
/** They find nothing to do in such a guest, or do it while somebody waits for it; each costs time at every boot of an emulated one. */
const MASKED = [
  ...['apt-daily.timer', 'apt-daily-upgrade.timer', 'dpkg-db-backup.timer', 'e2scrub_all.timer', 'e2scrub_reap.service', 'fstrim.timer'],
  ...['systemd-tmpfiles-clean.timer', 'systemd-pstore.service', 'systemd-update-utmp.service', 'systemd-update-utmp-runlevel.service'],
  ...['systemd-binfmt.service', 'proc-sys-fs-binfmt_misc.automount', 'dev-hugepages.mount', 'dev-mqueue.mount'],
  ...['sys-kernel-debug.mount', 'sys-kernel-tracing.mount', 'sys-kernel-config.mount', 'sys-fs-fuse-connections.mount'],
  ...['configfs', 'drm', 'fuse', 'efi_pstore', 'loop', 'dm_mod'].map((name) => `modprobe@${name}.service`),
  ...['systemd-firstboot.service', 'systemd-repart.service', 'systemd-pcrphase.service', 'systemd-pcrphase-sysinit.service'],
  ...['systemd-journald-audit.socket', 'systemd-journal-flush.service', 'cloud-init-hotplugd.socket', 'cloud-config.service'],
];
const DISK_BYTES = 2 * 1024 ** 3;
/** The root file system is found by its label, on whatever bus the disk is. */
const KERNEL_ARGUMENTS = `root=LABEL=debian ro ${QUICK_KERNEL_ARGUMENTS}`;

/** Writes a qcow2 disk into `workDir` and returns its path. */
export function buildDebianDisk({ workDir, overlay }: { readonly workDir: string; readonly overlay: string }): string {
  const packagesDir = join(workDir, 'packages');
  unpackPackages({ names: [...DISK_TOOLS, 'mmdebstrap'], workDir, into: packagesDir });
  const tar = join(workDir, 'root.tar');
  install({ packagesDir, overlay, workDir, tar });
  const tree = join(workDir, 'root');
  const rootImage = join(workDir, 'root.ext4');
  makeFileSystem({ tar, tree, rootImage });
  const boot = join(tree, 'boot');
  const newest = (prefix: string) => join(boot, readdirSync(boot).find((name) => name.startsWith(prefix)) ?? prefix);
  const raw = join(workDir, 'disk.raw');
  const initramfs = newest('initrd.img-');
  writeBootDisk({ packagesDir, kernel: newest('vmlinuz-'), initramfs, workDir, disk: raw, kernelArguments: KERNEL_ARGUMENTS, rootImage });
  rmSync(tree, { recursive: true });
  const disk = join(workDir, 'disk.qcow2');
  execFileSync('qemu-img', ['convert', '-f', 'raw', '-O', 'qcow2', raw, disk], { stdio: ['ignore', 'ignore', 'inherit'] });
  return disk;
}

type Installation = { readonly packagesDir: string; readonly overlay: string; readonly workDir: string; readonly tar: string };

/** The archive of an installed system. */
function install({ packagesDir, overlay, workDir, tar }: Installation): void {
  const ours = join(workDir, 'overlay.tar');
  execFileSync('tar', ['-C', overlay, '--owner=0', '--group=0', '-cf', ours, '.']);
  const inGuest = (line: string) => `--customize-hook=chroot "$1" ${line}`;
  const options = [
    '--variant=apt',
    '--format=tar',
    `--essential-hook=tar-in ${ours} /`, // before the kernel, whose initramfs is made from it
    inGuest(`systemctl --quiet enable ${ENABLED.join(' ')}`),
    inGuest(`systemctl --quiet mask ${MASKED.join(' ')}`),
    `--customize-hook=echo root:guest | chroot "$1" chpasswd`,
    // What makes one machine another than the next is made by its first boot.
    `--customize-hook=rm -f "$1"/etc/ssh/ssh_host_*; : > "$1/etc/machine-id"; mkdir -p "$1/boot/loader"; echo debian > "$1/etc/hostname"`,
  ];
  mmdebstrap({ packagesDir, workDir, packages: PACKAGES, options, to: tar });
}

/** A file system of the files in the archive, with their owners; whoever is not root only pretends to set them. */
function makeFileSystem({ tar, tree, rootImage }: { readonly tar: string; readonly tree: string; readonly rootImage: string }): void {
  mkdirSync(tree);
  execFileSync('truncate', ['-s', String(DISK_BYTES), rootImage]);
  const script = 'tar -C "$2" --numeric-owner -xpf "$1" && PATH=$PATH:/usr/sbin:/sbin mke2fs -q -t ext4 -L debian -d "$2" "$3"';
  const shell = ['sh', '-ec', script, 'sh', tar, tree, rootImage];
  if (!isRoot() && !findProgram('fakeroot', process.env['PATH']))
    throw new UserError('GUEST_SYSTEM', 'there is no fakeroot on this machine', { fix: 'apt-get install fakeroot', exitCode: 7 });
  const [program = '', ...args] = isRoot() ? shell : ['fakeroot', ...shell];
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}
