/**
 * A machine with everything filled in that its author left open: GET virtualmachines/NAME/expand-spec for one that is stored,
 * PUT namespaces/NAMESPACE/expand-vm-spec for the one in the body. Nothing is written.
 */
import type { ClusterConfiguration } from '../../api/kubevirt/configuration/cluster-configuration.ts';
import { type VirtualMachine, VMS } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { causesText, requiredCause } from '../../base/causes.ts';
import { ApiError, type StatusCause } from '../../base/errors.ts';
import { isObject, type JsonObject, mergePatch } from '../../base/json.ts';
import type { Client } from '../../client/client.ts';
import { defaultVmiSpec } from '../admission/default-vmi.ts';
import { mutateVm } from '../admission/mutate-vm.ts';
import { validateVm } from '../admission/validate-vm.ts';
import { isVmShaped } from '../admission/vm-shape.ts';
import { expandChoices } from '../expand-choices.ts';
import type { SubresourceCall } from '../subresource-call.ts';
import { readOptions } from './read-options.ts';

export async function expandVm({ client, configuration, namespace, name }: SubresourceCall): Promise<Response> {
  const vm = await client.get(VMS, { namespace, name });
  const details = { name, group: 'kubevirt.io', kind: 'virtualmachines' };
  if (!vm) throw new ApiError('NotFound', `virtualmachines.kubevirt.io "${name}" not found`, { details });
  const expansion = await expandChoices(client, vm);
  if ('causes' in expansion) throw new ApiError('InternalError', `Cannot expand VM ${namespace}/${name}: ${causesText(expansion.causes)}`);
  return Response.json(expanded(expansion.vm as unknown as JsonObject, configuration)); // what came from the wire is JSON
}

/** Refuses what the API server would refuse, before it is filled in. */
export async function expandGiven(call: SubresourceCall): Promise<Response> {
  const vm = await readOptions(call.request);
  const { apiVersion, kind } = vm;
  if (kind !== 'VirtualMachine' || typeof apiVersion !== 'string' || !apiVersion.startsWith('kubevirt.io/'))
    throw new ApiError('BadRequest', `Cannot expand the body: it is no VirtualMachine but ${JSON.stringify(kind ?? 'nothing')}`);
  try {
    return await expandUnchecked(vm, call);
  } catch (error) {
    // The schema is the API server's, which has not looked at this body: a text where there should be a list stops whoever walks through it.
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    const why = 'somewhere it has another type than its schema asks for; a create with dryRun says where';
    throw new ApiError('BadRequest', `Cannot expand the VirtualMachine: ${why}`, { cause: error });
  }
}

async function expandUnchecked(vm: JsonObject, { client, configuration, namespace }: SubresourceCall): Promise<Response> {
  const { metadata } = vm;
  const given = isObject(metadata) ? metadata['namespace'] : undefined;
  if (given !== undefined && given !== '' && given !== namespace)
    throw new ApiError('BadRequest', `VM namespace must be ${namespace}, found ${JSON.stringify(given)}`);
  const inPlace = { ...vm, metadata: { ...(isObject(metadata) && metadata), namespace } };
  if (!isVmShaped(inPlace)) throw refused([...validateVm(vm, configuration), NO_MACHINE].slice(0, 1));
  const expansion = await expandChoices(client, await completed(inPlace, client));
  if ('causes' in expansion) throw refused(expansion.causes);
  const whole = expansion.vm as unknown as JsonObject;
  const causes = validateVm(whole, configuration);
  if (causes.length > 0) throw refused(causes);
  return Response.json(expanded(whole, configuration));
}

/** As it would go into the store: what is to be inferred from a volume is. */
async function completed(vm: VirtualMachine, client: Client): Promise<VirtualMachine> {
  const patch = await mutateVm(vm as unknown as JsonObject, client); // what came from the wire is JSON
  const changes = patch.flatMap(({ path, value }) => [nested(path, null), ...(value === undefined ? [] : [nested(path, value)])]);
  return changes.reduce(mergePatch, vm) as VirtualMachine;
}

/** The value at a path of fields, as a merge patch. */
function nested(path: string, value: unknown): unknown {
  return path
    .split('/')
    .slice(1)
    .reduceRight<unknown>((inner, field) => ({ [field]: inner }), value);
}

const NO_MACHINE = requiredCause('spec.template.spec.domain.devices', 'what the machine is made of');

function refused(causes: readonly StatusCause[]): ApiError {
  const told = causes.map(({ field, message }) => `${field}: ${message}`).join('; ');
  return new ApiError('BadRequest', `Cannot expand the VirtualMachine: ${told}`, { details: { causes } });
}

/** The firmware's UUID is left out where the author gave none: each machine gets its own when it is made. */
function expanded(vm: JsonObject, configuration: ClusterConfiguration): JsonObject {
  const spec = isObject(vm['spec']) ? vm['spec'] : {};
  const template = isObject(spec['template']) ? spec['template'] : {};
  const inner = isObject(template['spec']) ? template['spec'] : {};
  const filled = defaultVmiSpec(inner, { newUuid: '', configuration });
  return { ...vm, spec: { ...spec, template: { ...template, spec: withoutEmptyUuid(filled) } } };
}

function withoutEmptyUuid(spec: JsonObject): JsonObject {
  const { domain } = spec;
  if (!isObject(domain) || !isObject(domain['firmware']) || domain['firmware']['uuid'] !== '') return spec;
  const { uuid: _, ...firmware } = domain['firmware'];
  const { firmware: __, ...rest } = domain;
  return { ...spec, domain: Object.keys(firmware).length > 0 ? { ...rest, firmware } : rest };
}
