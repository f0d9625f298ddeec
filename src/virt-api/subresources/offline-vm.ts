/** PUT offlinevirtualmachines/NAME/{start,stop,restart} */
import { OFFLINE_VMS, type OfflineVirtualMachine } from '../../api/kubevirt/kinds/offline-virtual-machine.ts';
import { VMS } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { isControlledBy, isDeleting } from '../../api/meta.ts';
import { pathOf } from '../../api/resource.ts';
import { ApiError } from '../../base/errors.ts';
import type { SubresourceCall } from '../subresource-call.ts';
import { isDryRun, readOptions } from './read-options.ts';

/** Wishes that it runs. */
export function startOfflineVm(call: SubresourceCall): Promise<Response> {
  return setRunning(call, 'start', true);
}

/** Wishes that it does not run; its VirtualMachine goes. */
export function stopOfflineVm(call: SubresourceCall): Promise<Response> {
  return setRunning(call, 'stop', false);
}

/** Deletes its VirtualMachine, which is how an OfflineVirtualMachine restarts: the next one has the template of today. */
export async function restartOfflineVm(call: SubresourceCall): Promise<Response> {
  const { client, namespace, name } = call;
  const options = await readOptions(call.request);
  const ovm = await find(call);
  const vm = await client.get(VMS, { namespace, name });
  if (!ovm.spec.running || !vm || !isControlledBy(vm, ovm) || isDeleting(vm)) throw refused(call, 'restart', 'it is not running');
  if (!isDryRun(options)) await client.delete(VMS, vm.metadata, { uid: vm.metadata.uid });
  return new Response(null, { status: 202 });
}

async function setRunning(call: SubresourceCall, verb: string, running: boolean): Promise<Response> {
  const { client, log, namespace, name, user } = call;
  const options = await readOptions(call.request);
  const ovm = await find(call);
  if (isDeleting(ovm)) throw refused(call, verb, 'it is being deleted');
  if ((ovm.spec.running ?? false) === running) throw refused(call, verb, running ? 'it is already running' : 'it is not running');
  await client.request(`${pathOf(OFFLINE_VMS, { namespace, name })}${isDryRun(options) ? '?dryRun=All' : ''}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: JSON.stringify({ metadata: { uid: ovm.metadata.uid }, spec: { running } }),
    signal: call.request.signal,
  });
  log.info(verb, { object: `OfflineVirtualMachine ${namespace}/${name}`, because: `${user} asked for it` });
  return new Response(null, { status: 202 });
}

async function find({ client, namespace, name }: SubresourceCall): Promise<OfflineVirtualMachine> {
  const ovm = await client.get(OFFLINE_VMS, { namespace, name });
  if (ovm) return ovm;
  const details = { name, group: 'kubevirt.io', kind: 'offlinevirtualmachines' };
  throw new ApiError('NotFound', `offlinevirtualmachines.kubevirt.io "${name}" not found`, { details });
}

function refused({ namespace, name }: SubresourceCall, verb: string, why: string): ApiError {
  return new ApiError('Conflict', `Cannot ${verb} OfflineVirtualMachine ${namespace}/${name}: ${why}`);
}
