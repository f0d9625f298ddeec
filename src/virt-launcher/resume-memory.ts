/** A launcher whose guest goes on where it was suspended: checks the saved memory, and leaves it where QEMU finds it. */
import { createHash } from 'node:crypto';
import { closeSync, writeFileSync } from 'node:fs';
import type { VirtualMachineInstance } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { MEMORY_VOLUME } from '../api/launcher/mounts.ts';
import { MACHINE_FILE, MEMORY_DESCRIPTOR, type ResumeOrigin, type SavedMachine } from '../api/launcher/suspension.ts';
import { LAUNCHER_VARIABLES } from '../api/launcher/variables.ts';
import { qemuVersion } from '../qemu/qemu-version.ts';
import { openMemory } from './memory-file.ts';
import { openMountedFolder } from './mounted-folder.ts';
import type { Privileges } from './privileges.ts';
import type { Environment } from './ready-process.ts';

/**
 * Options that say what the guest finds in its machine. What is behind its devices may be elsewhere the next time, and what tells one machine from
 * another (UUID, serial number, addresses of cards) is in the memory already: it is looked at again at the next boot.
 */
const OF_THE_MACHINE: readonly string[] = ['-machine', '-cpu', '-smp', '-m', '-device', '-global', '-kernel', '-append'];

const ADDRESS = /"mac":"[0-9a-f:]*"/;

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

/** The instance as the guest that it goes on with knows it: its cloud-init disk may be mounted, and must not change under it. */
export function asSaved<T extends Pick<VirtualMachineInstance, 'metadata' | 'spec'>>(vmi: T, env: Environment): T {
  const text = env[LAUNCHER_VARIABLES.resumeOrigin];
  if (!text) return vmi;
  const { name, firmwareUUID } = JSON.parse(text) as ResumeOrigin; // virt-controller wrote it
  const { domain } = vmi.spec;
  const firmware = { ...domain.firmware, ...(firmwareUUID !== undefined && { uuid: firmwareUUID }) };
  return { ...vmi, metadata: { ...vmi.metadata, name }, spec: { ...vmi.spec, domain: { ...domain, firmware } } };
}

/** Leaves the digest of the machine for virt-handler, and returns it. In the folder of the process, which is QEMU's. */
export function tellMachine(args: readonly string[]): string {
  const hash = createHash('sha256');
  for (const [index, option] of args.entries())
    if (OF_THE_MACHINE.includes(option)) hash.update(`${option}\0${args[index + 1]?.replace(ADDRESS, '')}\0`);
  const digest = hash.digest('hex');
  writeFileSync(MACHINE_FILE, digest);
  return digest;
}
