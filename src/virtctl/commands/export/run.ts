/** Writes a machine with its disks to one file: by an export that is deleted afterwards. */
import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { EXPORT_TOKEN_HEADER, manifestPath } from '../../../api/exporter/exporter.ts';
import { type VirtualMachine, VMS } from '../../../api/kubevirt/kinds/virtual-machine.ts';
import { type VirtualMachineExport, VM_EXPORTS } from '../../../api/kubevirt/kinds/vm-export.ts';
import { VM_SNAPSHOTS } from '../../../api/kubevirt/kinds/vm-snapshot.ts';
import { exportPath } from '../../../api/kubevirt/subresource-path.ts';
import { ApiError, UserError } from '../../../base/errors.ts';
import { progressOf as wordsOf } from '../../../sdk/upload/transfer-progress.ts';
import type { ClusterDeps, ConnectionFlags } from '../../deps.ts';
import { ensureExport, hasFiles, sourceIn, tokenOf, untilReady } from '../../export/export-object.ts';
import { MachineFileWriter } from '../../export/machine-file.ts';
import { type DiskSource, type Piece, takePieces } from '../../export/take-pieces.ts';
import { progressOf, untilInterrupted } from '../image/interruptible.ts';

type ExportFlags = ConnectionFlags & { readonly snapshot: boolean; readonly readinessTimeout?: string };

export async function run(deps: ClusterDeps, flags: ExportFlags, name: string, file: string): Promise<void> {
  const { client, namespace, stdout } = deps;
  const resource = flags.snapshot ? VM_SNAPSHOTS : VMS;
  if (!(await client.get<VirtualMachine>(resource as typeof VMS, { namespace, name })))
    throw new ApiError('NotFound', `there is no ${resource.kind} "${name}" in namespace ${namespace}`);
  const source = sourceIn(flags.snapshot ? { snapshot: name } : { vm: name });
  if (!source) return;
  const exportName = `${name.slice(0, 40)}-${randomBytes(4).toString('hex')}`;
  const path = resolve(deps.workingFolder, file);
  await ensureExport(deps, exportName, source, {});
  try {
    await untilInterrupted(deps, 'all of it was taken', async (signal) => {
      const exported = await untilReady(deps, exportName, { timeout: flags.readinessTimeout, signal });
      const files = exported.status?.links?.internal?.volumes?.find((volume) => hasFiles(exported, volume.name));
      if (files)
        throw new UserError('NO_DISK', `PVC ${files.name} of ${name} has files and no disk: a machine in one file has disks alone`, {
          fix: `virtctl vmexport download NAME --pvc ${files.name} --output ${files.name}.tar.gz, and the machine without it`,
        });
      await writeFile(deps, { exported, token: await tokenOf(deps, exported), path, signal });
    });
  } finally {
    await client.delete(VM_EXPORTS, { namespace, name: exportName });
  }
  stdout.write(`${file} is ${resource.kind} ${name} with its disks\n`);
}

type Taken = { readonly exported: VirtualMachineExport; readonly token: string; readonly path: string; readonly signal: AbortSignal };

async function writeFile(deps: ClusterDeps, taken: Taken): Promise<void> {
  const { client, clock, namespace } = deps;
  const { exported, token, path, signal } = taken;
  const part = `${path}.part`;
  const file = await open(part, 'w', 0o600);
  try {
    const writer = new MachineFileWriter(file);
    await writer.machine(await machineOf(deps, taken));
    for (const { name: volume } of exported.status?.links?.internal?.volumes ?? []) {
      const source = { client, clock, namespace, name: exported.metadata.name, volume, token, signal };
      await progressOf(deps).step(volume, async ({ update }) => {
        await writer.disk(volume, told(source, update));
        return volume;
      });
    }
    await writer.end();
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

async function* told(source: DiskSource, update: (words: string) => void): AsyncGenerator<Piece> {
  const startedAtMs = source.clock.steady();
  for await (const piece of takePieces(source, undefined)) {
    update(wordsOf({ doneBytes: piece.to, totalBytes: piece.totalBytes, elapsedMs: source.clock.steady() - startedAtMs }));
    yield piece;
  }
}

/** As its manifest has it: without what a cluster has written into it. */
async function machineOf(
  { client, namespace }: ClusterDeps,
  { exported, token, signal }: Taken,
): Promise<Pick<VirtualMachine, 'metadata' | 'spec'>> {
  const path = exportPath({ namespace, name: exported.metadata.name }, manifestPath('internal', 'all'));
  const headers = { [EXPORT_TOKEN_HEADER]: token, accept: 'application/json' };
  const { items } = (await (await client.request(path, { headers, signal })).json()) as { items: readonly VirtualMachine[] };
  const vm = items.find(({ kind }) => kind === VMS.kind);
  if (!vm) throw new UserError('NO_MANIFEST', 'this export has no machine', { why: 'its definition is larger than 64 KiB' });
  return { metadata: vm.metadata, spec: vm.spec };
}
