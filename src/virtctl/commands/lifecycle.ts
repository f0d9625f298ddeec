/** start, stop, restart and what can be done to a running guest: one PUT each to a subresource. */
import { PODS, type Pod } from '../../api/core/pod.ts';
import { VMIS } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { LABEL_CREATED_BY } from '../../api/kubevirt/names.ts';
import { isControlledBy, type KubeObject } from '../../api/meta.ts';
import { isApiError, UserError } from '../../base/errors.ts';
import type { Client } from '../../client/client.ts';
import { type ConnectionFlags, connect, type MachineKind, machineName, machineTarget } from '../connect.ts';
import type { Context } from '../context.ts';

type LifecycleFlags = ConnectionFlags & { readonly dryRun: boolean };
type ForceFlags = LifecycleFlags & { readonly force: boolean; readonly gracePeriod?: number };

export function start(this: Context, flags: LifecycleFlags & { paused: boolean }, ...words: string[]): Promise<void> {
  return call(this, { verb: 'start', flags, words, body: flags.paused ? { paused: true } : {} });
}

export function stop(this: Context, flags: ForceFlags, ...words: string[]): Promise<void> {
  requireBoth(flags);
  return call(this, { verb: 'stop', flags, words, body: flags.force ? { gracePeriod: flags.gracePeriod } : {} });
}

/** By force it also takes the launcher Pod away, so that nothing has to wait for a guest or a node that hangs. */
export async function restart(this: Context, flags: ForceFlags, ...words: string[]): Promise<void> {
  requireBoth(flags);
  const pods = flags.force && !flags.dryRun ? await launcherPods(this, flags, words) : [];
  await call(this, { verb: 'restart', flags, words, body: flags.force ? { gracePeriodSeconds: flags.gracePeriod } : {} });
  const { client } = connect(this, flags);
  for (const { metadata } of pods)
    await client.delete(PODS, metadata, {
      uid: metadata.uid,
      ...(flags.gracePeriod !== undefined && { gracePeriodSeconds: flags.gracePeriod }),
    });
}

/** The Pods of the instance that runs now: a restart makes another. */
async function launcherPods(context: Context, flags: ConnectionFlags, words: readonly string[]): Promise<readonly Pod[]> {
  const { client, namespace } = connect(context, flags);
  const vmi = await client.get(VMIS, { namespace, name: machineName('restart', words) });
  if (!vmi) return [];
  const { items } = await client.list(PODS, { namespace, labelSelector: `${LABEL_CREATED_BY}=${vmi.metadata.uid}` });
  return items.filter((pod) => isControlledBy(pod, vmi));
}

export function pause(this: Context, flags: LifecycleFlags, ...words: string[]): Promise<void> {
  return callInstance(this, 'pause', flags, words);
}

export function unpause(this: Context, flags: LifecycleFlags, ...words: string[]): Promise<void> {
  return callInstance(this, 'unpause', flags, words);
}

export function reset(this: Context, flags: LifecycleFlags, ...words: string[]): Promise<void> {
  return callInstance(this, 'reset', flags, words);
}

export function softReboot(this: Context, flags: LifecycleFlags, ...words: string[]): Promise<void> {
  return callInstance(this, 'soft-reboot', flags, words);
}

type Call = { readonly verb: string; readonly flags: LifecycleFlags; readonly words: readonly string[]; readonly body: object };

const RESOURCES: Readonly<Record<MachineKind, string>> = {
  vm: 'virtualmachines',
  ovm: 'offlinevirtualmachines',
  vmic: 'virtualmachineinstanceconfigs',
  vmi: 'virtualmachineinstances',
};

async function call(context: Context, { verb, flags, words, body }: Call): Promise<void> {
  const { kind, name, note } = machineTarget(verb, words);
  const { client, namespace } = connect(context, flags);
  const { stdout, stderr } = context.process;
  if (note) stderr.write(`note: ${note}\n`);
  if (flags.dryRun) stdout.write('Dry Run execution\n');
  // whoever says `vmi` means the machine of that instance
  const kinds: MachineKind[] = kind && kind !== 'vmi' ? [kind] : ['vm', 'ovm', ...(verb === 'restart' ? [] : (['vmic'] as const))];
  const put = (each: MachineKind) => putSubresource(client, { namespace, resource: RESOURCES[each], name, verb }, withDryRun(body, flags));
  const { kind: found, response } = await firstThatIsThere(kinds, put);
  const made = found === 'vmic' && verb === 'start' ? `: VMI ${((await response.json()) as KubeObject).metadata.name}` : '';
  stdout.write(`${found.toUpperCase()} ${name} was scheduled to ${verb}${made}\n`);
}

async function callInstance(context: Context, verb: string, flags: LifecycleFlags, words: readonly string[]): Promise<void> {
  const name = machineName(verb, words);
  const { client, namespace } = connect(context, flags);
  if (flags.dryRun) context.process.stdout.write('Dry Run execution\n');
  const at = { namespace, resource: RESOURCES.vmi, name, verb: verb.replace('-', '') };
  await putSubresource(client, at, withDryRun({}, flags));
  context.process.stdout.write(`VMI ${name} was scheduled to ${verb}\n`);
}

/** A name alone may be any of these. A stop that the VM refuses may be meant for what keeps it; the first refusal is what is told. */
async function firstThatIsThere(kinds: readonly MachineKind[], put: (kind: MachineKind) => Promise<Response>) {
  let refusal: unknown;
  for (const kind of kinds) {
    try {
      return { kind, response: await put(kind) };
    } catch (error) {
      if (!isApiError(error, 'NotFound') && !isApiError(error, 'Conflict')) throw error;
      if (refusal === undefined || isApiError(refusal, 'NotFound')) refusal = isApiError(error, 'NotFound') ? (refusal ?? error) : error;
    }
  }
  throw refusal;
}

type At = { readonly namespace: string; readonly resource: string; readonly name: string; readonly verb: string };

function putSubresource(client: Client, { namespace, resource, name, verb }: At, body: object): Promise<Response> {
  const path = `/apis/subresources.kubevirt.io/v1/namespaces/${encodeURIComponent(namespace)}/${resource}/${encodeURIComponent(name)}/${verb}`;
  return client.request(path, { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
}

function withDryRun(body: object, { dryRun }: LifecycleFlags): object {
  return dryRun ? { ...body, dryRun: ['All'] } : body;
}

function requireBoth({ force, gracePeriod }: ForceFlags): void {
  if (force === (gracePeriod !== undefined)) return;
  throw new UserError('USAGE', '--force and --grace-period must be given together', {
    why: 'cutting a guest off can damage its data, so both the wish and the time have to be said',
    fix: 'add the other one, e.g. --force --grace-period 0',
    exitCode: 2,
  });
}
