/** The QEMU of a launcher Pod, as something that can be started again outside of it. */
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SERIAL_LOG } from '../../src/api/launcher/files.ts';
import { argumentsOf, type Recording } from './bare-qemu.ts';

/** The process of a guest, whatever namespaces it is in. */
export function qemuPidOf(namespace: string, name: string): number {
  const found = readdirSync('/proc').find((entry) => /^\d+$/.test(entry) && argumentsOf(entry).includes(`guest=${namespace}_${name}`));
  if (!found) throw new Error(`no QEMU of ${namespace}/${name}`);
  return Number(found);
}

/** What a guest has said on its serial line, as a file of this machine. */
export function serialLogOf(pid: number): string {
  return `/proc/${pid}/cwd/${SERIAL_LOG}`;
}

/** Copies what it needs to start again, as soon as it runs: the guest has hardly written to its overlay by then. */
export function record(pid: number): Recording {
  const folder = mkdtempSync(join(tmpdir(), 'bench-bare-'));
  const cwd = join(folder, 'kubevirt');
  const disks = join(folder, 'kubevirt-private/disks');
  mkdirSync(cwd);
  mkdirSync(disks, { recursive: true });
  const from = `/proc/${pid}/root/run/kubevirt-private/disks`;
  for (const name of readdirSync(from)) copyFileSync(join(from, name), join(disks, name));
  const argv = argumentsOf(pid).map((argument) =>
    // The image of the disk is in the other container of the Pod.
    argument.replace(/\/proc\/\d+\/root[^"]*/g, (path) => {
      const copy = join(disks, path.replaceAll('/', '-'));
      copyFileSync(`/proc/${pid}/root${path}`, copy);
      return copy;
    }),
  );
  return { argv, cwd, remove: () => rmSync(folder, { recursive: true }) };
}
