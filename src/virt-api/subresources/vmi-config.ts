/**
 * virtualmachineinstanceconfigs/NAME/{start,stop}, by GET as published and by PUT. The configuration itself keeps nothing of a run:
 * its instances are found by their owner.
 */
import { instanceFrom } from '../../api/kubevirt/instance-from.ts';
import { isFinal, VMIS } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { type VirtualMachineInstanceConfig, VMI_CONFIGS } from '../../api/kubevirt/kinds/vmi-config.ts';
import { isControlledBy, isDeleting } from '../../api/meta.ts';
import { pathOf } from '../../api/resource.ts';
import { ApiError } from '../../base/errors.ts';
import type { SubresourceCall } from '../subresource-call.ts';
import { isDryRun, readOptions } from './read-options.ts';

/** Makes one more instance from the template as it is now, and answers with it. */
export async function startFromConfig(call: SubresourceCall): Promise<Response> {
  const { client, namespace, name, request } = call;
  const options = await readOptions(request);
  const config = await find(call);
  if (isDeleting(config))
    throw new ApiError('Conflict', `Cannot start VirtualMachineInstanceConfig ${namespace}/${name}: it is being deleted`);
  const made = instanceFrom({ owner: config, template: config.spec.template, named: { generateName: `${name}-` } });
  const response = await client.request(`${pathOf(VMIS, { namespace })}${isDryRun(options) ? '?dryRun=All' : ''}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(made),
    signal: request.signal,
  });
  return Response.json(await response.json(), { status: 202 });
}

/** Deletes all its instances, or the one that `{ name }` or `?instance=` names. */
export async function stopFromConfig(call: SubresourceCall): Promise<Response> {
  const { client, namespace, name, request } = call;
  const options = await readOptions(request);
  const config = await find(call);
  const wanted = options['name'] ?? new URL(request.url).searchParams.get('instance') ?? undefined;
  const { items } = await client.list(VMIS, { namespace });
  const mine = items.filter((vmi) => isControlledBy(vmi, config) && (wanted === undefined || vmi.metadata.name === wanted));
  const what = wanted === undefined ? 'it has no running instance' : `it has no instance ${JSON.stringify(wanted)}`;
  if (!mine.some((vmi) => !isDeleting(vmi) && (wanted !== undefined || !isFinal(vmi))))
    throw new ApiError('Conflict', `Cannot stop VirtualMachineInstanceConfig ${namespace}/${name}: ${what}`);
  if (!isDryRun(options)) for (const { metadata } of mine) await client.delete(VMIS, metadata, { uid: metadata.uid });
  return new Response(null, { status: 202 });
}

async function find({ client, namespace, name }: SubresourceCall): Promise<VirtualMachineInstanceConfig> {
  const config = await client.get(VMI_CONFIGS, { namespace, name });
  if (config) return config;
  const details = { name, group: 'kubevirt.io', kind: 'virtualmachineinstanceconfigs' };
  throw new ApiError('NotFound', `virtualmachineinstanceconfigs.kubevirt.io "${name}" not found`, { details });
}
