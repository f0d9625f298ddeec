/** Waits for a machine that does not run yet, and says so. */
import { VMS } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { type VirtualMachineInstance, VMIS } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { ApiError, UserError } from '../../base/errors.ts';
import { timeoutSignal } from '../../base/timeout-signal.ts';
import type { ClusterDeps } from '../deps.ts';

const MINUTE_MS = 60_000;

/** Resolves when it runs; a UserError when it did not in time. 0 minutes only look. */
export async function untilRunning(deps: ClusterDeps, name: string, timeoutMinutes: number): Promise<void> {
  const { client, namespace, stderr } = deps;
  if (!(timeoutMinutes >= 0)) throw new UserError('USAGE', `--timeout ${timeoutMinutes} is not a number of minutes`, { exitCode: 2 });
  const [vm, vmi] = await Promise.all([client.get(VMS, { namespace, name }), client.get(VMIS, { namespace, name })]);
  if (!vm && !vmi) throw new ApiError('NotFound', `there is no virtual machine "${name}" in namespace ${namespace}`);
  if (isRunning(vmi)) return;
  const state = vm?.status?.printableStatus ?? vmi?.status?.phase ?? 'Stopped';
  if (timeoutMinutes > 0) {
    const help = vmi ? `virtctl why ${name} says what it waits for` : `virtctl start ${name} starts it`;
    stderr.write(`${name} is ${state}: waiting up to ${timeoutMinutes} min until it runs. ${help}; Ctrl+C ends this.\n`);
    if (await seenRunning(deps, name, timeoutMinutes * MINUTE_MS)) return;
  }
  throw new UserError('VM_NOT_RUNNING', `${namespace}/${name} did not run within ${timeoutMinutes} min`, {
    why: `it was ${state}`,
    fix: `virtctl start ${name}, or virtctl why ${name}`,
    exitCode: 5,
  });
}

async function seenRunning({ client, namespace }: ClusterDeps, name: string, patienceMs: number): Promise<boolean> {
  const signal = timeoutSignal(patienceMs);
  try {
    for await (const event of client.watch(VMIS, { namespace, fieldSelector: `metadata.name=${name}`, signal }))
      if (event.type !== 'BOOKMARK' && event.type !== 'DELETED' && isRunning(event.object)) return true;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return false;
}

function isRunning(vmi: VirtualMachineInstance | undefined): boolean {
  return vmi?.status?.phase === 'Running';
}
