/** The Debian package: the staged folder with Node below /usr/lib, links in /usr/bin, and a unit that starts a user's cluster when they log in or at boot. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { VERSION } from '../../src/cmd/version.ts';
import { bootUnit } from '../../src/virtctl/embedded/boot-unit.ts';
import type { Architecture } from './node-for.ts';
import { addNode, type SingleFileOptions } from './single-file.ts';
import { stagePackage } from './stage-package.ts';

const FOLDER = 'usr/lib/kubevirt-ts';
const OF_DEBIAN: Readonly<Record<Architecture, string>> = { x64: 'amd64', arm64: 'arm64' };
/** What the programs call; script/bootstrap installs the same. */
const DEPENDS = ['qemu-system-x86', 'qemu-utils', 'passt', 'iproute2', 'util-linux', 'crun', 'slirp4netns', 'uidmap', 'openssh-client'];

const UNIT = bootUnit({
  program: '/usr/bin/virtctl',
  isSystem: false,
  documentation: 'file:///usr/lib/kubevirt-ts/README.md',
});

/** Returns the path of the package. */
export async function writeDebianPackage({ into, architecture, commit, seconds }: SingleFileOptions): Promise<string> {
  const work = mkdtempSync(join(tmpdir(), 'kubevirt-ts-deb-'));
  try {
    chmodSync(work, 0o755);
    const root = join(work, 'root');
    await stagePackage({ into: join(root, FOLDER), form: 'Debian package', commit });
    addNode(join(root, FOLDER), architecture);
    mkdirSync(join(root, 'usr/bin'), { recursive: true });
    for (const program of ['virtctl', 'kubectl-virt', 'vmctl'])
      symlinkSync(`../lib/kubevirt-ts/bin/${program}`, join(root, 'usr/bin', program));
    write(join(root, 'usr/lib/systemd/user/kubevirt-ts.service'), UNIT);
    write(join(root, 'usr/share/doc/kubevirt-ts/copyright'), COPYRIGHT);
    write(join(root, 'DEBIAN/control'), controlFor(architecture));
    execFileSync('chmod', ['-R', 'u=rwX,go=rX', root]);
    const path = join(into, `kubevirt-ts_${VERSION.slice(1)}_${OF_DEBIAN[architecture]}.deb`);
    execFileSync('dpkg-deb', ['--root-owner-group', '-Zzstd', '-z9', '--build', root, path], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, SOURCE_DATE_EPOCH: String(seconds) },
    });
    return path;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

const COPYRIGHT = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: kubevirt-ts

Files: *
Copyright: the authors of kubevirt-ts
License: Apache-2.0
 On Debian systems the text of this license is in /usr/share/common-licenses/Apache-2.0.
`;

function controlFor(architecture: Architecture): string {
  const fields = {
    Package: 'kubevirt-ts',
    Version: VERSION.slice(1),
    Architecture: OF_DEBIAN[architecture],
    Maintainer: 'kubevirt-ts <kubevirt-ts@localhost>',
    Depends: DEPENDS.join(', '),
    Section: 'admin',
    Priority: 'optional',
    Description: 'virtual machines as Kubernetes objects, run by QEMU',
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  return [
    ...lines,
    ' An embedded Kubernetes-compatible cluster in one process, without root, and virtctl,',
    ' which also installs the product into a real Kubernetes.',
    '',
  ].join('\n');
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
