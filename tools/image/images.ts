/** What is in each image of the product. */
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { TOOLS_IMAGE } from '../../src/api/kubevirt/guestfs.ts';
import { QEMU_USER } from '../../src/api/launcher/compute.ts';
import { EPHEMERAL_DISKS_FOLDER } from '../../src/api/launcher/files.ts';
import { PRIVATE_VOLUME, PUBLISHED_EPHEMERAL_DISKS } from '../../src/api/launcher/mounts.ts';
import { ALL_OBJECTS, readManifests } from '../../src/cmd/cluster/read-manifests.ts';
import type { RunConfig } from '../../src/images/run-config.ts';
import type { ImageFile } from '../../src/images/write-image.ts';
import { librariesFor } from './closure.ts';

export type Parts = {
  /** Unpacked Debian packages. */
  readonly packages: string;
  /** The Node that runs this. */
  readonly node: string;
  /** Bundled executables by name. */
  readonly bundles: ReadonlyMap<string, string>;
  /** The folder with the web page, as it was built. */
  readonly page: string;
  /** The programs inside busybox. */
  readonly applets: readonly string[];
};
export type ImageContent = { readonly name: string; readonly layers: readonly (readonly ImageFile[])[]; readonly config: RunConfig };

/** The user of our components; that of QEMU is the one that upstream has. */
const COMPONENT_USER = 1001;
const LIBRARY = 'usr/lib/kubevirt-ts';
const PATH = 'PATH=/usr/bin:/bin';
/** Components have little to do and live long: they are small rather than fast. */
const SMALL = ['NODE_OPTIONS=--max-semi-space-size=1', 'MALLOC_ARENA_MAX=1'];
/** Read by QEMU 7.2: firmware, boot of a kernel and from the network, each type of screen, and the keyboard of VNC. */
const FIRMWARE = [
  'usr/share/seabios/bios-256k.bin',
  ...['stdvga', 'cirrus', 'bochs-display', 'virtio'].map((screen) => `usr/share/seabios/vgabios-${screen}.bin`),
  'usr/share/qemu/kvmvapic.bin',
  'usr/share/qemu/linuxboot_dma.bin',
  'usr/share/qemu/pvh.bin',
  ...['virtio', 'e1000', 'e1000e', 'rtl8139'].map((card) => `usr/lib/ipxe/qemu/pxe-${card}.rom`),
];
const QEMU = 'usr/bin/qemu-system-x86_64';
/** Serves the disks that come while a guest runs. */
const STORAGE_DAEMON = 'usr/bin/qemu-storage-daemon';
/** Parts of QEMU that Debian keeps in files of their own: emulation, and the screen of type virtio. */
const MODULES = ['accel-tcg-x86_64', 'hw-display-virtio-gpu', 'hw-display-virtio-vga'].map(
  (name) => `usr/lib/x86_64-linux-gnu/qemu/${name}.so`,
);
/** What scripts run in `compute` with the flags of GNU, which busybox does not have all. */
const GNU = ['bin/cat', 'bin/ls', 'bin/ps', 'usr/bin/stat'];
const CONVERTERS = ['usr/bin/qemu-img', 'usr/bin/qemu-nbd', 'usr/bin/xz'];
/** What looks into disks and repairs them, without a guest. */
const DISK_TOOLS = [
  ...['qemu-img', 'qemu-io', 'qemu-nbd', 'xz'].map((name) => `usr/bin/${name}`),
  ...['debugfs', 'dumpe2fs', 'e2fsck', 'mke2fs', 'resize2fs', 'tune2fs', 'fdisk', 'sfdisk', 'fsck.fat', 'mkfs.fat'].map(
    (name) => `sbin/${name}`,
  ),
];
const KEYMAP = 'usr/share/qemu/keymaps/en-us';

const TOOLS_ENTRYPOINT = 'entrypoint.sh';
const ENTRYPOINT = `#!/bin/sh
echo 'The disk is /disk/disk.img, or /dev/vda of a block device; there are ${DISK_TOOLS.map((name) => basename(name)).join(', ')}. "exit" ends this.'
exec sh
`;

/** Every image. All but the last begin with the same layer, so a node that has one has most of the others. */
export function imagesFrom(parts: Parts): ImageContent[] {
  const base = baseLayer(parts);
  const ofLauncher = ['virt-launcher'];
  const ofVmctl = ['vmctl'];
  const ofImporter = ['virt-importer'];
  const ofComponents = [...parts.bundles.keys()].filter((name) => ![...ofLauncher, ...ofVmctl, ...ofImporter].includes(name));
  const asComponent = { User: `${COMPONENT_USER}:${COMPONENT_USER}`, Env: [PATH, ...SMALL], WorkingDir: '/' };
  return [
    {
      name: 'virt-launcher',
      layers: [base, qemuLayer(parts), gnuLayer(parts), [...programs(parts, ofLauncher), ...launcherScripts()]],
      // SIGTERM would end QEMU at once: virt-handler asks the guest to power off, and the grace period ends in SIGKILL.
      config: { User: `${QEMU_USER}:${QEMU_USER}`, Env: [PATH], Entrypoint: ['virt-launcher'], StopSignal: 'SIGCONT', WorkingDir: '/' },
    },
    {
      name: 'kubevirt',
      layers: [base, [...programs(parts, ofComponents), ...manifests(), ...pageFiles(parts)]],
      config: asComponent,
    },
    {
      name: 'virt-importer',
      layers: [base, converterLayer(parts), programs(parts, ofImporter)],
      config: { User: `${QEMU_USER}:${QEMU_USER}`, Env: [PATH], Entrypoint: ['virt-importer'], WorkingDir: '/' },
    },
    // Runs in the namespaces of users, who name nothing but arguments.
    { name: 'vmctl', layers: [base, programs(parts, ofVmctl)], config: { ...asComponent, Entrypoint: ['vmctl'] } },
    // Started by `virtctl guestfs` alone, and by that of KubeVirt, which knows its name and how it is entered.
    {
      name: TOOLS_IMAGE,
      layers: [[...systemFiles(parts), ...diskTools(parts)]],
      config: {
        User: `${QEMU_USER}:${QEMU_USER}`,
        Env: ['PATH=/sbin:/usr/bin:/bin'],
        Entrypoint: [`/${TOOLS_ENTRYPOINT}`],
        WorkingDir: '/',
      },
    },
  ];
}

function baseLayer(parts: Parts): ImageFile[] {
  const { packages, node } = parts;
  return [...systemFiles(parts), ...librariesFor(packages, [node]), { name: 'usr/bin/node', path: node, mode: 0o755 }];
}

/** What every program finds: users, folders and a shell. */
function systemFiles({ packages, applets }: Parts): ImageFile[] {
  return [
    { name: 'tmp', isFolder: true, mode: 0o1777 },
    { name: 'var/run', linkTo: '/run' },
    { name: 'run', isFolder: true },
    { name: PUBLISHED_EPHEMERAL_DISKS.replace('/var/', ''), linkTo: `${PRIVATE_VOLUME.mountPath}/${EPHEMERAL_DISKS_FOLDER}` },
    {
      name: 'etc/passwd',
      content: `root:x:0:0:root:/:/bin/sh\nqemu:x:${QEMU_USER}:${QEMU_USER}::/:/bin/sh\nkubevirt:x:${COMPONENT_USER}:${COMPONENT_USER}::/:/bin/sh\n`,
    },
    { name: 'etc/group', content: `root:x:0:\nqemu:x:${QEMU_USER}:\nkubevirt:x:${COMPONENT_USER}:\n` },
    { name: 'etc/nsswitch.conf', content: 'hosts: files dns\n' },
    { name: 'bin/busybox', path: join(packages, 'bin/busybox'), mode: 0o755 },
    ...applets.map((applet) => ({ name: `bin/${applet}`, linkTo: 'busybox' })),
  ];
}

function qemuLayer({ packages, node }: Parts): ImageFile[] {
  const inBase = new Set(librariesFor(packages, [node]).map(({ name }) => name));
  const fromPackage = (name: string, mode = 0o644): ImageFile => ({ name, path: join(packages, name), mode });
  return [
    ...librariesFor(
      packages,
      [QEMU, STORAGE_DAEMON, ...MODULES].map((name) => join(packages, name)),
    ).filter(({ name }) => !inBase.has(name)),
    fromPackage(QEMU, 0o755),
    fromPackage(STORAGE_DAEMON, 0o755),
    ...MODULES.map((name) => fromPackage(name)),
    ...FIRMWARE.map((name) => fromPackage(name)),
    fromPackage(KEYMAP),
  ];
}

/** What unpacks and converts disks. */
function converterLayer(parts: Parts): ImageFile[] {
  const { packages, node } = parts;
  const inBase = new Set(librariesFor(packages, [node]).map(({ name }) => name));
  const paths = CONVERTERS.map((name) => join(packages, name));
  return [
    ...librariesFor(packages, paths).filter(({ name }) => !inBase.has(name)),
    ...CONVERTERS.map((name) => ({ name, path: join(packages, name), mode: 0o755 })),
  ];
}

function diskTools({ packages }: Parts): ImageFile[] {
  const paths = DISK_TOOLS.map((name) => join(packages, name));
  return [
    ...librariesFor(packages, paths),
    ...DISK_TOOLS.map((name) => ({ name, path: join(packages, name), mode: 0o755 })),
    { name: TOOLS_ENTRYPOINT, content: ENTRYPOINT, mode: 0o755 },
  ];
}

/** Above the links to busybox, where those are: a file goes before a link of the layers below. */
function gnuLayer({ packages, node }: Parts): ImageFile[] {
  const paths = GNU.map((name) => join(packages, name));
  const inBase = new Set(librariesFor(packages, [node]).map(({ name }) => name));
  return [
    ...librariesFor(packages, paths).filter(({ name }) => !inBase.has(name)),
    ...GNU.map((name) => ({ name: `bin/${basename(name)}`, path: join(packages, name), mode: 0o755 })),
  ];
}

/** For disks whose images are containers. */
function launcherScripts(): ImageFile[] {
  const folder = join(import.meta.dirname, '../../src/virt-launcher/scripts');
  return [
    { name: 'usr/bin/virt-launcher-share', path: join(folder, 'virt-launcher-share'), mode: 0o755 },
    { name: `${LIBRARY}/hold`, path: join(folder, 'hold') },
  ];
}

/** What virt-operator puts into a cluster. */
function manifests(): ImageFile[] {
  const content = JSON.stringify(readManifests(join(import.meta.dirname, '../../deploy')));
  return [{ name: `${LIBRARY}/deploy/${ALL_OBJECTS}`, content }];
}

/** What virt-ui hands out. */
function pageFiles({ page }: Parts): ImageFile[] {
  return readdirSync(page)
    .sort()
    .map((name) => ({ name: `${LIBRARY}/page/${name}`, path: join(page, name) }));
}

/** A bundle is started through a link of its plain name; its own name tells Node what it is. */
function programs({ bundles }: Parts, names: readonly string[]): ImageFile[] {
  return names.flatMap((name) => {
    const path = bundles.get(name);
    if (path === undefined) return [];
    const file = `${LIBRARY}/${name}.mjs`;
    return [
      { name: file, path, mode: 0o755 },
      { name: `usr/bin/${name}`, linkTo: `/${file}` },
    ];
  });
}
