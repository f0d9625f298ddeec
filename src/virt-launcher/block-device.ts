/**
 * The disk of a claim in Block mode: a device that the kubelet puts into the container. The embedded kubelet has no devices: there a link leads to the folder of
 * the claim, and a file in it that is as large as the claim is what the guest has.
 */
import { readFileSync, type Stats, statSync } from 'node:fs';
import { messageOf, UserError } from '../base/errors.ts';
import { SANDBOX_VARIABLE } from '../base/node/sandbox-path.ts';
import type { ImageFile } from '../qemu/convert/input.ts';

const SECTOR = 512;

/** The device at this path, always raw; undefined when there is none. */
export function findBlockDevice(path: string): (ImageFile & { readonly sizeBytes: number }) | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isBlockDevice() ? { path, format: 'raw', isDevice: true, sizeBytes: sizeOf(stat, path) } : undefined;
}

/** Whether the embedded kubelet has put a folder where the device would be. In a container there may be any folder in /dev. */
export function hasDeviceFolder(path: string, env: Readonly<Record<string, string | undefined>>): boolean {
  return Boolean(env[SANDBOX_VARIABLE]) && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** A device has no size among its facts as a file; the kernel tells it by the device's number. */
function sizeOf({ rdev }: Stats, path: string): number {
  const [major, minor] = [(rdev >> 8) & 0xfff, (rdev & 0xff) | ((rdev >> 12) & 0xfff00)];
  try {
    return Number(readFileSync(`/sys/dev/block/${major}:${minor}/size`, 'utf8')) * SECTOR;
  } catch (error) {
    throw new UserError('FILE_INACCESSIBLE', `cannot tell the size of the device ${path}`, { why: messageOf(error), cause: error });
  }
}
