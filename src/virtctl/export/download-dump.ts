/** Takes the dump of a machine's memory out of a cluster: by an export of its PVC, which is made for it and deleted afterwards. */
import { type VirtualMachine, VMS } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { VM_EXPORTS } from '../../api/kubevirt/kinds/vm-export.ts';
import { ApiError, UserError } from '../../base/errors.ts';
import { untilInterrupted } from '../commands/image/interruptible.ts';
import type { ClusterDeps } from '../deps.ts';
import { ensureExport, sourceIn, tokenOf, untilReady, usage } from './export-object.ts';
import { checkedFormat, takeVolume } from './take-volume.ts';

export type DumpFlags = {
  readonly output?: string;
  readonly format?: string;
  /** Those are for others. */
  readonly portForward: boolean;
  readonly localPort?: string;
};
type DumpRequest = NonNullable<NonNullable<VirtualMachine['status']>['memoryDumpRequest']>;

const LOOK_MS = 500;
const PATIENCE_MS = 10 * 60 * 1000;

/** Resolves when the file is whole; waits for a dump that is being made. */
export async function downloadDump(deps: ClusterDeps, vm: string, flags: DumpFlags): Promise<void> {
  const { client, namespace } = deps;
  const { output } = flags;
  if (!output) throw usage('nobody says which file to write', '--output dump.tar.gz');
  const format = checkedFormat(flags.format);
  await untilInterrupted(deps, 'all of it was taken; virtctl memory-dump download continues', async (signal) => {
    const { claimName } = await untilDumped(deps, vm, signal);
    const source = sourceIn({ pvc: claimName });
    if (!source) return;
    const name = exportNameOf(vm, claimName);
    const isMade = await ensureExport(deps, name, source, {});
    try {
      const exported = await untilReady(deps, name, { signal });
      await takeVolume(deps, { output, format }, { exported, token: await tokenOf(deps, exported), signal });
    } finally {
      if (isMade) await client.delete(VM_EXPORTS, { namespace, name });
    }
  });
}

/** As KubeVirt's virtctl calls it, and no longer than a name may be. */
function exportNameOf(vm: string, claimName: string): string {
  return `export-${vm}-${claimName}`.slice(0, 63).replace(/[-.]+$/, '');
}

async function untilDumped({ client, clock, namespace }: ClusterDeps, name: string, signal: AbortSignal): Promise<DumpRequest> {
  for (const startedAtMs = clock.steady(); ; ) {
    const vm = await client.get(VMS, { namespace, name });
    if (!vm) throw new ApiError('NotFound', `virtualmachines.kubevirt.io "${name}" not found`);
    const request = vm.status?.memoryDumpRequest;
    if (!request || request.remove)
      throw new UserError('NO_DUMP', `${name} has no memory dump`, {
        fix: `virtctl memory-dump get ${name} --claim-name PVC`,
        exitCode: 4,
      });
    if (request.phase === 'Completed') return request;
    if (request.phase === 'Failed')
      throw new UserError('DUMP_FAILED', `the last memory dump of ${name} failed`, { ...(request.message && { why: request.message }) });
    if (clock.steady() - startedAtMs > PATIENCE_MS)
      throw new UserError('NO_DUMP', `the memory dump of ${name} is not made yet`, { why: `it is ${request.phase}`, exitCode: 5 });
    await clock.sleep(LOOK_MS, signal);
  }
}
