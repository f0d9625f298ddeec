/** Makes a machine of a file: all of the file is looked at before anything is made, and what was made goes when something fails. */
import { resolve } from 'node:path';
import { PERSISTENT_VOLUME_CLAIMS } from '../../../api/core/volume.ts';
import { DATA_VOLUMES, phaseOf } from '../../../api/kubevirt/kinds/data-volume.ts';
import { type VirtualMachine, VMS } from '../../../api/kubevirt/kinds/virtual-machine.ts';
import { pathOf } from '../../../api/resource.ts';
import { UserError } from '../../../base/errors.ts';
import { explainSystemError } from '../../../base/node/system-error.ts';
import { progressOf as wordsOf } from '../../../sdk/upload/transfer-progress.ts';
import { dataVolumeFor } from '../../../sdk/upload/upload-objects.ts';
import type { ClusterDeps, ConnectionFlags } from '../../deps.ts';
import { importedMachine } from '../../export/imported-machine.ts';
import { type MachineFile, readMachineFile } from '../../export/machine-file.ts';
import { sendFile } from '../../upload/send-file.ts';
import { progressOf, untilInterrupted } from '../image/interruptible.ts';

type ImportFlags = ConnectionFlags & { readonly name?: string; readonly storageClass?: string; readonly forceBind: boolean };

const LOOK_MS = 250;

export async function run(deps: ClusterDeps, flags: ImportFlags, file: string): Promise<void> {
  const { client, namespace, stdout } = deps;
  const path = resolve(deps.workingFolder, file);
  await untilInterrupted(deps, 'all of it was sent; nothing of it is left', async (signal) => {
    await assertReachable(deps, signal);
    const kept = await readMachineFile(path, signal).catch((error) => {
      if (error?.code === 'ENOENT' || error?.code === 'EISDIR') throw new UserError('FILE_MISSING', `${file} is no file`, { exitCode: 3 });
      throw explainSystemError(error) ?? error;
    });
    const name = flags.name ?? kept.machine.metadata.name;
    const disks = new Map(
      kept.disks.map((disk, at) => [disk.name, flags.name === undefined ? disk.name : `${name.slice(0, 50)}-disk-${at}`]),
    );
    const vm = importedMachine(kept, { namespace, name: flags.name, disks });
    await assertFree(deps, name, [...disks.values()]);
    await tryMachine(deps, vm); // what the cluster would refuse is refused before anything is sent
    const made: string[] = [];
    try {
      for (const disk of kept.disks) await makeDisk(deps, { kept, disk, path, flags, name: disks.get(disk.name) ?? '', made, signal });
      await client.create(VMS, vm);
    } catch (error) {
      for (const each of made) await removeDisk(deps, each);
      throw error;
    }
    stdout.write(`VirtualMachine ${name} is made of ${file}: virtctl start ${name} starts it\n`);
  });
}

/** To look at a large file takes minutes: whoever has no cluster need not wait for it. */
async function assertReachable({ client }: ClusterDeps, signal: AbortSignal): Promise<void> {
  const answer = await client.request('/version', { signal });
  await answer.arrayBuffer();
}

async function tryMachine({ client, namespace }: ClusterDeps, vm: VirtualMachine): Promise<void> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(vm) };
  const answer = await client.request(`${pathOf(VMS, { namespace })}?dryRun=All`, init);
  await answer.arrayBuffer(); // an answer that nobody takes keeps its connection open, and the program with it
}

async function assertFree({ client, namespace }: ClusterDeps, name: string, disks: readonly string[]): Promise<void> {
  const taken = (what: string) =>
    new UserError('NAME_TAKEN', `${what} is there already`, {
      why: 'what is there is not replaced',
      fix: '--name another-name',
      exitCode: 4,
    });
  if (await client.get(VMS, { namespace, name })) throw taken(`VirtualMachine ${name}`);
  for (const disk of disks) {
    const at = { namespace, name: disk };
    if ((await client.get(PERSISTENT_VOLUME_CLAIMS, at)) ?? (await client.get(DATA_VOLUMES, at))) throw taken(`PVC ${disk}`);
  }
}

type NewDisk = {
  readonly kept: MachineFile;
  readonly disk: MachineFile['disks'][number];
  readonly name: string;
  readonly path: string;
  readonly flags: ImportFlags;
  /** Told of what is there from now on. */
  readonly made: string[];
  readonly signal: AbortSignal;
};

async function makeDisk(deps: ClusterDeps, { disk, name, path, flags, made, signal }: NewDisk): Promise<void> {
  const { client, clock, namespace } = deps;
  const target = { namespace, name, size: String(disk.diskBytes), storageClass: flags.storageClass, isBoundAtOnce: flags.forceBind };
  await client.create(DATA_VOLUMES, dataVolumeFor(target));
  made.push(name);
  while (!(await client.get(PERSISTENT_VOLUME_CLAIMS, { namespace, name }))) await clock.sleep(LOOK_MS, signal);
  await progressOf(deps).step(name, async ({ update }) => {
    const startedAtMs = clock.steady();
    const onProgress = (progress: Parameters<typeof wordsOf>[0]) =>
      update(wordsOf({ ...progress, elapsedMs: clock.steady() - startedAtMs }));
    await sendFile({ client, clock, namespace, name, path, signal, onProgress, slice: disk.part });
    return name;
  });
  for (;;) {
    const dataVolume = await client.get(DATA_VOLUMES, { namespace, name });
    if (!dataVolume) throw new UserError('DISK_GONE', `DataVolume ${name} was deleted meanwhile`);
    if (phaseOf(dataVolume) === 'Succeeded') return;
    await clock.sleep(LOOK_MS, signal);
  }
}

async function removeDisk({ client, namespace }: ClusterDeps, name: string): Promise<void> {
  await client.delete(DATA_VOLUMES, { namespace, name });
}
