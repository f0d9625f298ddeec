/** Loop devices, which belong to the whole machine and outlive whoever made them. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Devices whose file (as it was when it was attached) matches. */
export function loopsBackedBy(matches: (file: string) => boolean): string[] {
  return readdirSync('/sys/block')
    .filter((name) => existsSync(`/sys/block/${name}/loop/backing_file`))
    .filter((name) => matches(readFileSync(`/sys/block/${name}/loop/backing_file`, 'utf8').trim()))
    .map((name) => `/dev/${name}`);
}

/** Detaches the devices of a cluster's volumes, once nobody holds them. */
export function detachVolumes(folder: string): void {
  for (const device of loopsBackedBy((file) => file.startsWith(`${folder}/`))) detach(device);
}

/**
 * Detaches what a kubelet put on top of block devices to hold them. They are known by the file system of the node's /dev, whose
 * number each start of a node writes down; it is not used again while they are there.
 */
export function detachHeldBy(nodeFolder: string): void {
  const file = join(nodeFolder, 'device-file-systems');
  if (!existsSync(file)) return;
  const numbers = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  const list = execFileSync('losetup', ['--list', '--noheadings', '--output', 'NAME,BACK-MAJ:MIN'], { encoding: 'utf8' });
  for (const line of list.split('\n')) {
    const [name = '', number = ''] = line.trim().split(/\s+/);
    if (numbers.includes(number)) detach(name);
  }
}

function detach(device: string): void {
  try {
    execFileSync('losetup', ['--detach', device], { stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (error) {
    if (existsSync(`/sys/block/${basename(device)}/loop/backing_file`)) throw error; // otherwise somebody was quicker
  }
}
