/**
 * PUT virtualmachines/NAME/{start,stop,restart,suspend,resume,memorydump,removememorydump}: looks at a machine, lets a rule decide, and makes the writes. Every write to the machine holds only for the state that was looked at:
 * when somebody else was faster, the rule is asked again about the new state, so a race ends in the answer the loser would have got later.
 */
import { PERSISTENT_VOLUME_CLAIMS } from '../../api/core/volume.ts';
import { isMigrationFinal, MIGRATIONS } from '../../api/kubevirt/kinds/migration.ts';
import { type VirtualMachine, VMS } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { VMIS } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { VmSituation } from '../../api/kubevirt/vm-can.ts';
import { pathOf, type Resource } from '../../api/resource.ts';
import { ApiError, isApiError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import type { SubresourceCall } from '../subresource-call.ts';
import { decideMemoryDump, decideRemoveMemoryDump, dumpClaimNameOf } from './decide-memory-dump.ts';
import { decideRestart } from './decide-restart.ts';
import { decideStart } from './decide-start.ts';
import { decideStop } from './decide-stop.ts';
import { decideResume, decideSuspend } from './decide-suspend.ts';
import type { Outcome, Write } from './outcome.ts';
import { booleanOption, isDryRun, readOptions, secondsOption, textOption } from './read-options.ts';

type Options = Pick<VmSituation, 'isPaused' | 'gracePeriodSeconds' | 'isDiscarding' | 'claimName'>;
type Change = {
  readonly options: (given: JsonObject) => Options;
  readonly decide: (situation: VmSituation, call: SubresourceCall) => Outcome | Promise<Outcome>;
};
type ChangeName = 'start' | 'stop' | 'restart' | 'suspend' | 'resume' | 'memorydump' | 'removememorydump';

/** What each of them accepts besides `dryRun`, and the rule that decides. */
const CHANGES: Readonly<Record<ChangeName, Change>> = {
  start: {
    options: (given) => ({ isPaused: booleanOption(given, 'paused'), isDiscarding: booleanOption(given, 'discard') }),
    decide: decideStart,
  },
  stop: { options: (given) => ({ gracePeriodSeconds: secondsOption(given, 'gracePeriod') }), decide: decideStop },
  restart: { options: (given) => ({ gracePeriodSeconds: noGraceOption(given) }), decide: decideRestart },
  suspend: { options: () => ({}), decide: suspendUnlessMoved },
  resume: { options: () => ({}), decide: decideResume },
  memorydump: { options: (given) => ({ claimName: textOption(given, 'claimName') }), decide: dumpToClaim },
  removememorydump: { options: () => ({}), decide: decideRemoveMemoryDump },
};

/** With the PVC as it is now. */
async function dumpToClaim(situation: VmSituation, { client, namespace }: SubresourceCall): Promise<Outcome> {
  const claimName = dumpClaimNameOf(situation);
  const claim = claimName === '' ? undefined : await client.get(PERSISTENT_VOLUME_CLAIMS, { namespace, name: claimName });
  return decideMemoryDump(situation, { claimName, claim });
}

/** With a migration that is about to move it: the instance does not show one before both nodes were told. */
async function suspendUnlessMoved(situation: VmSituation, { client, namespace, name }: SubresourceCall): Promise<Outcome> {
  const { items } = await client.list(MIGRATIONS, { namespace });
  const migration = items.find((each) => each.spec.vmiName === name && !isMigrationFinal(each));
  return decideSuspend({ ...situation, migration: migration?.metadata.name });
}

/** The controller writes the status of a machine a few times while it starts; more losses in a row than this are somebody's fight. */
const MAX_ATTEMPTS = 8;
const RESOURCES: readonly Resource[] = [VMS, VMIS];

/** How a subresource of this name is answered. */
export function vmChange(verb: ChangeName): (call: SubresourceCall) => Promise<Response> {
  return async (call) => {
    const given = await readOptions(call.request);
    const options = CHANGES[verb].options(given);
    const warning = await changeVm({ ...call, verb, options, isDryRun: isDryRun(given) });
    return new Response(null, { status: 202, headers: warning === undefined ? {} : { warning: `299 - ${JSON.stringify(warning)}` } });
  };
}

/** The only grace period that can be asked for is 0. */
function noGraceOption(given: JsonObject): number | undefined {
  const gracePeriodSeconds = secondsOption(given, 'gracePeriodSeconds');
  if (gracePeriodSeconds) throw new ApiError('BadRequest', 'gracePeriodSeconds: only 0 is supported for a restart');
  return gracePeriodSeconds;
}

type VmCall = SubresourceCall & { readonly verb: ChangeName; readonly options: Options; readonly isDryRun: boolean };

/** Resolves when the writes are made, with what is to be said about them; throws what the caller should be told otherwise. */
async function changeVm(call: VmCall): Promise<string | undefined> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await attemptChange(call);
    } catch (error) {
      if (!isApiError(error, 'Conflict') || error instanceof Refused || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/** Not a lost race: asking again gives the same answer. */
class Refused extends ApiError {}

async function attemptChange(call: VmCall): Promise<string | undefined> {
  const { client, verb, options, namespace, name } = call;
  const [vm, vmi] = await Promise.all([client.get(VMS, { namespace, name }), client.get(VMIS, { namespace, name })]);
  if (!vm) throw notFound(name);
  const outcome = await CHANGES[verb].decide({ vm, vmi, ...options }, call);
  if ('refused' in outcome) {
    const { reason, message } = outcome.refused;
    throw new Refused(reason, `Cannot ${verb} VM ${namespace}/${name}: ${message}`, { details: detailsOf(vm) });
  }
  await makeWrites(call, outcome);
  return outcome.warning;
}

async function makeWrites(call: VmCall, { writes, undo }: Extract<Outcome, { writes: unknown }>): Promise<void> {
  let made = 0;
  try {
    for (const each of writes) {
      await write(call, each);
      made += 1;
    }
  } catch (error) {
    if (undo && made > 0) await write(call, undo).catch((cause) => call.log.warn('cannot take back a write', { error: cause }));
    throw error;
  }
}

async function write(
  { client, log, isDryRun, request }: VmCall,
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
    signal: request.signal,
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
