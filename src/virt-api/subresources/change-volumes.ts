/**
 * PUT virtualmachines/NAME/{addvolume,removevolume} and the same of instances: volumes that come and go while a guest runs. On a machine its template
 * is changed, so that the volume is there at the next start, too; an instance has it for as long as it lives, and says so in an annotation when it
 * belongs to a machine, whose template would take it away otherwise.
 */
import { isOnItsWay } from '../../api/kubevirt/exclusive-operations.ts';
import { ephemeralVolumesOf } from '../../api/kubevirt/hotplug.ts';
import { VMS } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { VMIS } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { ANNOTATION_EPHEMERAL_VOLUMES } from '../../api/kubevirt/names.ts';
import type { VmiSpec } from '../../api/kubevirt/vmi-spec-schema.ts';
import type { KubeObject } from '../../api/meta.ts';
import { pathOf, type Resource } from '../../api/resource.ts';
import { ApiError, isApiError } from '../../base/errors.ts';
import type { SubresourceCall } from '../subresource-call.ts';
import { decideAddVolume, decideRemoveVolume, type VolumeOutcome } from './decide-volumes.ts';
import { isDryRun, readOptions } from './read-options.ts';

type Verb = 'addvolume' | 'removevolume';
const DECIDE = { addvolume: decideAddVolume, removevolume: decideRemoveVolume } as const;
/** More losses in a row than this are somebody's fight. */
const MAX_ATTEMPTS = 8;

/** How the subresource of a machine is answered. */
export function vmVolumes(verb: Verb): (call: SubresourceCall) => Promise<Response> {
  return (call) =>
    change(call, verb, async ({ client, namespace, name }) => {
      const [vm, vmi] = await Promise.all([client.get(VMS, { namespace, name }), client.get(VMIS, { namespace, name })]);
      if (!vm) throw notFound(VMS, name);
      if (isOnItsWay(vmi?.status?.migrationState)) throw new Refused('Conflict', `VMI ${name} is being migrated`);
      return { resource: VMS, object: vm, spec: vm.spec.template.spec, patchOf: (spec) => ({ template: { spec } }) };
    });
}

/** How that of an instance is answered. */
export function vmiVolumes(verb: Verb): (call: SubresourceCall) => Promise<Response> {
  return (call) =>
    change(call, verb, async ({ client, namespace, name }) => {
      const vmi = await client.get(VMIS, { namespace, name });
      if (!vmi) throw notFound(VMIS, name);
      const phase = vmi.status?.phase ?? 'Pending';
      if (phase !== 'Running') throw new Refused('Conflict', `VMI is not running but ${phase}`);
      if (isOnItsWay(vmi.status?.migrationState)) throw new Refused('Conflict', `VMI ${name} is being migrated`);
      return { resource: VMIS, object: vmi, spec: vmi.spec, patchOf: (spec) => spec, ephemeral: ephemeralVolumesOf(vmi) };
    });
}

type Looked = {
  readonly resource: Resource;
  readonly object: KubeObject;
  readonly spec: VmiSpec;
  readonly patchOf: (spec: object) => object;
  /** The volumes that an instance of a machine has and the machine has not; undefined for what belongs to nobody. */
  readonly ephemeral?: readonly string[] | undefined;
};

/** Not a lost race: asking again gives the same answer. */
class Refused extends ApiError {}

async function change(call: SubresourceCall, verb: Verb, look: (call: SubresourceCall) => Promise<Looked>): Promise<Response> {
  const options = await readOptions(call.request);
  const isDry = isDryRun(options);
  for (let attempt = 1; ; attempt++) {
    const looked = await look(call);
    const outcome = DECIDE[verb](looked.spec, options, looked.ephemeral);
    if ('refused' in outcome) throw new Refused(outcome.refused.reason, outcome.refused.message);
    try {
      await write(call, { ...looked, ...outcome, isDry });
      return new Response(null, { status: 202 });
    } catch (error) {
      if (!isApiError(error, 'Conflict') || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

type Written = Looked & Extract<VolumeOutcome, { volumes: unknown }> & { readonly isDry: boolean };

async function write({ client, log, request, user }: SubresourceCall, written: Written): Promise<void> {
  const { resource, object, volumes, disks, patchOf, isDry, because, ephemeral } = written;
  const { namespace, name, uid, resourceVersion } = object.metadata;
  const spec = patchOf({ volumes, domain: { devices: { disks } } });
  const annotations = ephemeral && { [ANNOTATION_EPHEMERAL_VOLUMES]: ephemeral.length > 0 ? JSON.stringify(ephemeral) : null };
  await client.request(`${pathOf(resource, { namespace, name })}${isDry ? '?dryRun=All' : ''}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    // uid and resourceVersion are conditions: another incarnation, or another state, is a Conflict
    body: JSON.stringify({ metadata: { uid, resourceVersion, ...(annotations && { annotations }) }, spec }),
    signal: request.signal,
  });
  if (!isDry) log.info('changed', { object: `${resource.kind} ${namespace}/${name}`, because: `${user} asked: ${because}` });
}

function notFound({ group, plural }: Resource, name: string): ApiError {
  return new ApiError('NotFound', `${plural}.${group} "${name}" not found`, { details: { name, group, kind: plural } });
}
