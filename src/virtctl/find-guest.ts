/** A machine that somebody wants to reach: as it is, or why it cannot be reached. */
import { vmiIs } from '../api/kubevirt/condition-reasons.ts';
import { type VirtualMachine, VMS } from '../api/kubevirt/kinds/virtual-machine.ts';
import { isFinal, type VirtualMachineInstance, VMIS } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { ApiError, isApiError, UserError } from '../base/errors.ts';
import type { ClusterDeps } from './deps.ts';

export type FoundGuest = { readonly vm?: VirtualMachine | undefined; readonly vmi?: VirtualMachineInstance | undefined };
export type GuestName = { readonly name: string; readonly namespace?: string };

/** The guest; throws when it is not there. Who may only connect to it may not look: then nothing is known. */
export async function findGuest(
  { client, namespace: ours }: Pick<ClusterDeps, 'client' | 'namespace'>,
  to: GuestName,
): Promise<FoundGuest> {
  const { name, namespace = ours } = to;
  try {
    const [vm, vmi] = await Promise.all([client.get(VMS, { namespace, name }), client.get(VMIS, { namespace, name })]);
    if (!vm && !vmi) throw noSuchMachine(name, namespace);
    return { vm, vmi };
  } catch (error) {
    if (isApiError(error, 'Forbidden')) return {};
    throw error;
  }
}

/** The same, and throws when it does not run. */
export async function findRunningGuest(deps: Pick<ClusterDeps, 'client' | 'namespace'>, to: GuestName): Promise<FoundGuest> {
  const found = await findGuest(deps, to);
  const { vm, vmi } = found;
  if (!vm && !vmi) return found;
  if (vmi?.status?.phase === 'Running' && !vmiIs(vmi, 'Paused')) return found;
  throw notRunning(to.name, found);
}

/** One sentence for all commands. */
function noSuchMachine(name: string, namespace: string): ApiError {
  return new ApiError('NotFound', `there is no virtual machine "${name}" in namespace ${namespace}`);
}

function notRunning(name: string, { vm, vmi }: FoundGuest): UserError {
  const state = vm?.status?.printableStatus ?? vmi?.status?.phase ?? 'Stopped';
  return new UserError('VM_NOT_RUNNING', `${name} does not run, so nobody can connect to it`, {
    why: `it is ${state}`,
    fix: whatHelps(name, { vm, vmi }),
    exitCode: 4,
  });
}

function whatHelps(name: string, { vm, vmi }: FoundGuest): string {
  if (vmi?.status?.phase === 'Running') return `virtctl unpause ${name}`;
  if (vmi && !isFinal(vmi)) return `virtctl shell ${name} waits until it is there, virtctl why ${name} says what it waits for`;
  return vm?.status?.suspension?.phase === 'Suspended' ? `virtctl resume ${name}` : `virtctl start ${name}`;
}
