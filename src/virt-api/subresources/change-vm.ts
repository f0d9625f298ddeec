/**
 * Looks at a machine, lets a rule decide, and makes the writes. Every write to the machine holds only for the state that was looked at:
 * when somebody else was faster, the rule is asked again about the new state, so a race ends in the answer the loser would have got later.
 */
import { type VirtualMachine, VMS } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { VMIS } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { VmSituation } from '../../api/kubevirt/vm-can.ts';
import { pathOf, type Resource } from '../../api/resource.ts';
import { ApiError, isApiError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Client } from '../../client/client.ts';
import type { Outcome, Write } from './outcome.ts';

export type ChangeOptions = {
  readonly client: Client;
  readonly log: Logger;
  /** The verb, for messages. */
  readonly verb: string;
  readonly namespace: string;
  readonly name: string;
  readonly isDryRun: boolean;
  readonly decide: (situation: Pick<VmSituation, 'vm' | 'vmi'>) => Outcome;
  readonly signal: AbortSignal;
};

/** The controller writes the status of a machine a few times while it starts; more losses in a row than this are somebody's fight. */
const MAX_ATTEMPTS = 8;
const RESOURCES: readonly Resource[] = [VMS, VMIS];

/** Resolves when the writes are made; throws what the caller should be told otherwise. */
export async function changeVm(options: ChangeOptions): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await attemptChange(options);
    } catch (error) {
      if (!isApiError(error, 'Conflict') || error instanceof Refused || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/** Not a lost race: asking again gives the same answer. */
class Refused extends ApiError {}

async function attemptChange(options: ChangeOptions): Promise<void> {
  const { client, verb, namespace, name, decide } = options;
  const [vm, vmi] = await Promise.all([client.get(VMS, { namespace, name }), client.get(VMIS, { namespace, name })]);
  if (!vm) throw notFound(name);
  const outcome = decide({ vm, vmi });
  if ('refused' in outcome) {
    const { reason, message } = outcome.refused;
    throw new Refused(reason, `Cannot ${verb} VM ${namespace}/${name}: ${message}`, { details: detailsOf(vm) });
  }
  await makeWrites(options, outcome);
}

async function makeWrites(options: ChangeOptions, { writes, undo }: Extract<Outcome, { writes: unknown }>): Promise<void> {
  let made = 0;
  try {
    for (const each of writes) {
      await write(options, each);
      made += 1;
    }
  } catch (error) {
    if (undo && made > 0) await write(options, undo).catch((cause) => options.log.warn('cannot take back a write', { error: cause }));
    throw error;
  }
}

async function write(
  { client, log, isDryRun, signal }: ChangeOptions,
  { target, subresource, patch, resourceVersion, because }: Write,
): Promise<void> {
  const resource = RESOURCES.find(({ kind }) => kind === target.kind);
  if (!resource) throw new Error(`no resource of kind ${target.kind}`);
  // uid and resourceVersion in a patch are conditions: another incarnation, or another state, is a Conflict
  const metadata = { uid: target.uid, resourceVersion };
  await client.request(`${pathOf(resource, { ...target, subresource })}${isDryRun ? '?dryRun=All' : ''}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: JSON.stringify({ ...patch, metadata }),
    signal,
  });
  if (!isDryRun) log.info('changed', { object: `${target.kind} ${target.namespace}/${target.name}`, because });
}

function notFound(name: string): ApiError {
  const details = { name, group: 'kubevirt.io', kind: 'virtualmachines' };
  return new ApiError('NotFound', `virtualmachines.kubevirt.io "${name}" not found`, { details });
}

function detailsOf({ metadata: { name, uid } }: VirtualMachine) {
  return { name, uid, group: 'kubevirt.io', kind: 'virtualmachines' };
}
