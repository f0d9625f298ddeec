/**
 * A tiny image for native containers in tests: busybox with its programs, as `localhost/tests/busybox:latest` in the store of images. Its
 * program is that of the machine (Debian's busybox-static), so nothing is fetched.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { missingContainerPrograms } from '../../../base/node/container-programs.ts';
import type { RunConfig } from '../../../images/run-config.ts';
import { type ImageFile, writeLayeredImage } from '../../../images/write-image.ts';

export const BUSYBOX_IMAGE = 'localhost/tests/busybox';
const PROGRAMS = ['/bin/busybox', '/usr/bin/busybox', '/usr/lib/busybox/busybox-static'];
/** Root, and one more user. */
const PASSWD = 'root:x:0:0:root:/:/bin/sh\nweb:x:101:102:web:/srv:/bin/sh\n';

/** Why native containers cannot be tested here; false when they can, as `skip` of a test wants it. */
export function skipContainers(): string | false {
  const missing = missingContainerPrograms(process.env['PATH']);
  if (missing.length > 0) return `needs ${missing.join(', ')}`;
  if (!busybox()) return 'needs busybox-static';
  if (!existsSync('/dev/net/tun')) return 'needs /dev/net/tun';
  const { status } = spawnSync('unshare', ['-U', '-n', 'true']);
  return status === 0 ? false : 'needs user namespaces';
}

/** Puts the image into a store of images; `config` says how it is run, `sh` when left out. */
export async function addBusybox(
  imagesDir: string,
  options: { reference?: string; config?: RunConfig; files?: readonly ImageFile[] } = {},
): Promise<void> {
  const path = busybox();
  if (path === undefined) throw new Error('busybox is not installed');
  const names = spawnSync(path, ['--list'], { encoding: 'utf8' })
    .stdout.trim()
    .split('\n')
    .filter((name) => name !== 'busybox');
  await writeLayeredImage({
    dir: imagesDir,
    reference: options.reference ?? BUSYBOX_IMAGE,
    owner: 0,
    compression: 'none',
    config: options.config ?? { Cmd: ['sh'] },
    layers: [
      [
        { name: 'bin/busybox', path, mode: 0o755 },
        ...names.map((name) => ({ name: `bin/${name}`, linkTo: 'busybox' })),
        { name: 'etc/passwd', content: PASSWD },
        { name: 'tmp', isFolder: true, mode: 0o777 },
        ...(options.files ?? []),
      ],
    ],
  });
}

function busybox(): string | undefined {
  return PROGRAMS.find((path) => existsSync(path));
}
