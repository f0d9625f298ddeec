/** A launcher whose guest goes on where it was suspended: checks the saved memory, and leaves it where QEMU finds it. */
import { createHash } from 'node:crypto';
import { closeSync, writeFileSync } from 'node:fs';
import { MEMORY_VOLUME } from '../api/launcher/mounts.ts';
import { MACHINE_FILE, MEMORY_DESCRIPTOR, type SavedMachine } from '../api/launcher/suspension.ts';
import { LAUNCHER_VARIABLES } from '../api/launcher/variables.ts';
import { qemuVersion } from '../qemu/qemu-version.ts';
import { openMemory } from './memory-file.ts';
import { openMountedFolder } from './mounted-folder.ts';
import type { Privileges } from './privileges.ts';
import type { Environment } from './ready-process.ts';

/** Options that say what the guest finds in its machine. What is behind its devices may be elsewhere the next time. */
const OF_THE_MACHINE: readonly string[] = [
  '-machine',
  '-cpu',
  '-smp',
  '-m',
  '-device',
  '-global',
  '-uuid',
  '-smbios',
  '-kernel',
  '-append',
];

export type Memory = { open(options: Omit<SavedMachine, 'qemu'> & { readonly program: string }): void };

/** Undefined for a guest that is started. */
export function resumeFrom(env: Environment, { asRoot }: Pick<Privileges, 'asRoot'>): Memory | undefined {
  const digest = env[LAUNCHER_VARIABLES.resume];
  if (!digest) return undefined;
  const folder = asRoot(() => openMountedFolder(MEMORY_VOLUME.mountPath, env));
  return {
    /** As the user of QEMU: it opens the file that it reads. */
    open({ program, ...expected }) {
      const qemu = qemuVersion(program) ?? 'unknown';
      closeSync(MEMORY_DESCRIPTOR); // the lowest number is what the next file gets, and what a program that is started keeps
      const file = openMemory(folder, { ...expected, digest, qemu });
      if (file !== MEMORY_DESCRIPTOR) throw new Error(`the saved memory is at descriptor ${file}`);
    },
  };
}

/** Leaves the digest of the machine for virt-handler, and returns it. In the folder of the process, which is QEMU's. */
export function tellMachine(args: readonly string[]): string {
  const hash = createHash('sha256');
  for (const [index, option] of args.entries()) if (OF_THE_MACHINE.includes(option)) hash.update(`${option}\0${args[index + 1]}\0`);
  const digest = hash.digest('hex');
  writeFileSync(MACHINE_FILE, digest);
  return digest;
}
