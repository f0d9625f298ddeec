import type { Architecture } from './programs.ts';

/** The guests that can be built. They share everything under root/; each adds its own packages, drivers and files. */

export type Guest = {
  readonly name: string;
  readonly packages: readonly string[];
  /** An architecture beside the machine's own that packages are taken from. */
  readonly architecture?: Architecture;
  /** Drivers beside those that every guest has. */
  readonly drivers: readonly string[];
  /** Programs of the packages, by their path, that come with the libraries they need. */
  readonly programs?: readonly string[];
  /** Folders beside root/ whose files add to it or replace some of it, in this order. */
  readonly overlays?: readonly string[];
};

/** Needed to make a disk that boots; always the machine's own architecture. */
export const DISK_TOOLS: readonly string[] = ['syslinux', 'syslinux-common', 'mtools', 'dosfstools'];

/** An ssh server that is a twentieth of OpenSSH's, and OpenSSH's own for files, which scp asks for; with the libraries that they need. */
const SSH_PACKAGES = ['libc6', 'zlib1g', 'dropbear-bin', 'libtomcrypt1', 'libtommath1', 'libgmp10', 'libcrypt1', 'openssh-sftp-server'];
const SSH_PROGRAMS = ['usr/sbin/dropbear', 'usr/lib/openssh/sftp-server'];
/** These and qemu-guest-agent. */
const LOGIN_PACKAGES = [...SSH_PACKAGES, ...['qemu-guest-agent', 'libglib2.0-0', 'libpcre2-8-0', 'libudev1', 'liburing2', 'libnuma1']];
const LOGIN_PROGRAMS = ['usr/sbin/qemu-ga', ...SSH_PROGRAMS];

export const GUESTS: readonly Guest[] = [
  {
    name: 'tiny',
    packages: ['linux-image-cloud-amd64', 'busybox-static', ...LOGIN_PACKAGES],
    drivers: [],
    programs: LOGIN_PROGRAMS,
    overlays: ['root-login'],
  },
  {
    // Debian's cloud kernel needs 80 MB and has neither AHCI nor e1000; the 32-bit one boots in 64 MB and has both.
    // It has no agent: there has to be a guest without one, too.
    name: 'tiny32',
    packages: ['linux-image-686:i386', 'busybox-static:i386', ...SSH_PACKAGES.map((name) => `${name}:i386`)],
    architecture: 'i386',
    drivers: ['ahci', 'e1000', 'e1000e', '8139cp'],
    programs: SSH_PROGRAMS,
    overlays: ['root-login', 'root-tiny32'],
  },
  {
    // With scp itself, for clients that ask for the program and not for the server of files.
    name: 'agent',
    packages: ['linux-image-cloud-amd64', 'busybox-static', ...LOGIN_PACKAGES, 'openssh-client'],
    drivers: [],
    programs: [...LOGIN_PROGRAMS, 'usr/bin/scp'],
    overlays: ['root-login', 'root-agent'],
  },
];
