/**
 * The Pod of a volume that comes while its guest runs: makes or checks the disk as a launcher does, then becomes qemu-storage-daemon, which holds
 * its lock and serves it at a socket. One QEMU may connect. The format is the one that was decided when the disk was made.
 */
import { rmSync } from 'node:fs';
import { ATTACH_EXPORT, ATTACH_SOCKET } from '../api/launcher/attachment.ts';
import { UserError } from '../base/errors.ts';
import { findProgram } from '../base/node/find-program.ts';
import { blockNode } from '../qemu/convert/block-node.ts';
import { isReadOnlyDisk } from '../qemu/convert/disks.ts';
import { readVmi } from './prepare.ts';
import { type Environment, type Program, readyProcess } from './ready-process.ts';

const PROGRAM = 'qemu-storage-daemon';
const NODE = 'image0';

/** Gets this process ready to serve the one disk that its environment names. */
export function attach({ env, report }: { env: Environment; report: (line: string) => void }): Program {
  const vmi = readVmi(env);
  const [disk] = vmi.spec.domain.devices.disks ?? [];
  return readyProcess({
    ...{ env, vmi, program: findDaemon(env), report },
    argumentsFrom:
      ({ images }) =>
      () => {
        const image = disk && images.get(disk.name);
        if (!disk || !image) throw new UserError('VOLUME_MISSING', 'this Pod has no volume to attach');
        const isReadOnly = image.isReadOnly === true || isReadOnlyDisk(disk);
        rmSync(ATTACH_SOCKET, { force: true }); // of a try that was killed
        return [
          ...['--blockdev', JSON.stringify(alone(blockNode({ node: NODE, image, isReadOnly, disk })))],
          ...['--nbd-server', JSON.stringify({ addr: { type: 'unix', path: ATTACH_SOCKET }, 'max-connections': 1 })],
          ...['--export', JSON.stringify({ type: 'nbd', id: NODE, 'node-name': NODE, name: ATTACH_EXPORT, writable: !isReadOnly })],
        ];
      },
  });
}

/** What is exported may be written by others, says QEMU, whatever is exported: this filter above the file says that nobody else may. */
function alone({ file, ...node }: ReturnType<typeof blockNode>): object {
  return { ...node, file: { driver: 'blkdebug', 'node-name': `${NODE}-alone`, image: file, 'unshare-child-perms': ['write', 'resize'] } };
}

/** The program that serves disks. */
export function findDaemon(env: Environment): string {
  const path = findProgram(PROGRAM, env['PATH']);
  if (path) return path;
  throw new UserError('QEMU_MISSING', `${PROGRAM} is not on PATH`, {
    why: 'it serves the disks that are attached while a guest runs',
    fix: 'apt-get install qemu-system-common',
    exitCode: 7,
  });
}
