/** PUT virtualmachines/NAME/migrate: makes the migration that moves the instance of a machine to another node. */
import { MIGRATIONS, type VirtualMachineInstanceMigration } from '../../api/kubevirt/kinds/migration.ts';
import { VMS } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { VMIS } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { refusalOf } from '../../api/kubevirt/vm-can.ts';
import { pathOf } from '../../api/resource.ts';
import { ApiError } from '../../base/errors.ts';
import { isObject, type JsonObject } from '../../base/json.ts';
import type { SubresourceCall } from '../subresource-call.ts';
import { isDryRun, readOptions } from './read-options.ts';

export async function migrateVm({ client, log, namespace, name, request, user }: SubresourceCall): Promise<Response> {
  const options = await readOptions(request);
  const addedNodeSelector = selectorIn(options);
  const [vm, vmi] = await Promise.all([client.get(VMS, { namespace, name }), client.get(VMIS, { namespace, name })]);
  if (!vm || !vmi) throw notFound(name, vm ? 'virtualmachineinstances' : 'virtualmachines');
  const refused = refusalOf('migrate', { vm, vmi });
  if (refused) throw new ApiError(refused.reason, `Cannot migrate VM ${namespace}/${name}: ${refused.message}`);
  const migration: Pick<VirtualMachineInstanceMigration, 'apiVersion' | 'kind' | 'spec'> & { readonly metadata: object } = {
    apiVersion: `${MIGRATIONS.group}/${MIGRATIONS.version}`,
    kind: 'VirtualMachineInstanceMigration',
    metadata: { namespace, generateName: 'kubevirt-migrate-vm-' },
    spec: { vmiName: name, ...(addedNodeSelector && { addedNodeSelector }) },
  };
  await client.request(`${pathOf(MIGRATIONS, { namespace })}${isDryRun(options) ? '?dryRun=All' : ''}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(migration),
    signal: request.signal,
  });
  log.info('migrate', { object: `VirtualMachine ${namespace}/${name}`, because: `${user} asked for it` });
  return new Response(null, { status: 202 });
}

function selectorIn({ addedNodeSelector: given }: JsonObject): Readonly<Record<string, string>> | undefined {
  if (given === undefined || given === null) return undefined;
  if (isObject(given) && Object.values(given).every((value) => typeof value === 'string')) return given as Record<string, string>; // as looked at
  throw new ApiError('BadRequest', 'addedNodeSelector: Invalid value: must be labels and their values');
}

function notFound(name: string, kind: string): ApiError {
  return new ApiError('NotFound', `${kind}.kubevirt.io "${name}" not found`, { details: { name, group: 'kubevirt.io', kind } });
}
