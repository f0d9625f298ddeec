/**
 * The names that come with the program. Disks are where their publishers put them, checked by the digests that stand beside them there: the
 * newest build is at an address that stays, so a digest written down here would be wrong within weeks. A release that has no such address is
 * named by its number.
 */
const DEBIAN = 'https://cloud.debian.org/images/cloud';
const UBUNTU = 'https://cloud-images.ubuntu.com/releases/noble/release';
const ALPINE = 'https://dl-cdn.alpinelinux.org/alpine/v3.22/releases/cloud';
const FEDORA = 'https://dl.fedoraproject.org/pub/fedora/linux/releases/44/Cloud';

const MEMORY = { memory: '1Gi', disk: '10Gi' };
const KEY_ONLY = 'by ssh with the key of virtctl run; there is no password';

/** In the shape of a catalogue file, and checked as one. */
export const BUILT_IN = {
  images: {
    tiny: { ...ours('The demo guest: a kernel and busybox, boots in seconds', 'tiny', '128Mi'), cloudInit: true, agent: true },
    tiny32: {
      ...ours('The demo guest with 32 bits, for 64M of memory', 'tiny32', '64Mi'),
      cloudInit: true,
      login: 'root and guest, or cirros and gocubsgo',
    },
    agent: { ...ours('The demo guest with the program scp; built from a clone only', 'agent', '256Mi'), cloudInit: true, agent: true },
    debian: { alias: 'debian:13' },
    'debian:13': debian('Debian 13 (trixie)', 'trixie', 13),
    'debian:12': debian('Debian 12 (bookworm)', 'bookworm', 12),
    ubuntu: { alias: 'ubuntu:24.04' },
    'ubuntu:24.04': {
      description: 'Ubuntu 24.04 LTS (noble)',
      sources: { amd64: ubuntu('amd64'), arm64: ubuntu('arm64') },
      user: 'ubuntu',
      ...MEMORY,
      login: KEY_ONLY,
    },
    alpine: { alias: 'alpine:3.22' },
    'alpine:3.22': {
      description: 'Alpine Linux 3.22',
      sources: { amd64: alpine('x86_64-bios'), arm64: alpine('aarch64-uefi') },
      user: 'alpine',
      memory: '512Mi',
      disk: '5Gi',
      login: KEY_ONLY,
    },
    fedora: { alias: 'fedora:44' },
    'fedora:44': {
      description: 'Fedora 44 Cloud',
      sources: { amd64: fedora('x86_64'), arm64: fedora('aarch64') },
      user: 'fedora',
      memory: '2Gi',
      disk: '10Gi',
      login: KEY_ONLY,
    },
    cirros: {
      description: 'CirrOS, the small guest of the KubeVirt documents',
      sources: { amd64: { image: 'quay.io/kubevirt/cirros-container-disk-demo:latest' } },
      user: 'cirros',
      memory: '128Mi',
      disk: '1Gi',
      cloudInit: false,
      login: 'cirros and gocubsgo',
    },
  },
} as const;

function ours(description: string, name: string, memory: string) {
  const source = { image: `localhost/guests/${name}:latest` };
  const sources = { amd64: source, arm64: source };
  return { description, sources, user: 'root', memory, disk: '1Gi', cloudInit: false, login: 'root and guest' };
}

function debian(description: string, release: string, version: number) {
  const source = (architecture: string) => ({
    url: `${DEBIAN}/${release}/latest/debian-${version}-genericcloud-${architecture}.qcow2`,
    checksums: `${DEBIAN}/${release}/latest/SHA512SUMS`,
  });
  return { description, sources: { amd64: source('amd64'), arm64: source('arm64') }, user: 'debian', ...MEMORY, login: KEY_ONLY };
}

function ubuntu(architecture: string) {
  return { url: `${UBUNTU}/ubuntu-24.04-server-cloudimg-${architecture}.img`, checksums: `${UBUNTU}/SHA256SUMS` };
}

function alpine(variant: string) {
  const url = `${ALPINE}/nocloud_alpine-3.22.2-${variant}-cloudinit-r0.qcow2`;
  return { url, checksums: `${url}.sha512` };
}

function fedora(architecture: string) {
  const folder = `${FEDORA}/${architecture}/images`;
  return {
    url: `${folder}/Fedora-Cloud-Base-Generic-44-1.7.${architecture}.qcow2`,
    checksums: `${folder}/Fedora-Cloud-44-1.7-${architecture}-CHECKSUM`,
  };
}
