/** start, stop and restart: one PUT each to the machine's subresource. */
import { UserError } from '../../base/errors.ts';
import { type ConnectionFlags, connect, machineName } from '../connect.ts';
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

export function restart(this: Context, flags: ForceFlags, ...words: string[]): Promise<void> {
  requireBoth(flags);
  return call(this, { verb: 'restart', flags, words, body: flags.force ? { gracePeriodSeconds: flags.gracePeriod } : {} });
}

type Call = { readonly verb: string; readonly flags: LifecycleFlags; readonly words: readonly string[]; readonly body: object };

async function call(context: Context, { verb, flags, words, body }: Call): Promise<void> {
  const name = machineName(verb, words);
  const { client, namespace } = connect(context, flags);
  if (flags.dryRun) context.process.stdout.write('Dry Run execution\n');
  const path = `/apis/subresources.kubevirt.io/v1/namespaces/${encodeURIComponent(namespace)}/virtualmachines/${encodeURIComponent(name)}/${verb}`;
  const content = flags.dryRun ? { ...body, dryRun: ['All'] } : body;
  await client.request(path, { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(content) });
  context.process.stdout.write(`VM ${name} was scheduled to ${verb}\n`);
}

function requireBoth({ force, gracePeriod }: ForceFlags): void {
  if (force === (gracePeriod !== undefined)) return;
  throw new UserError('USAGE', '--force and --grace-period must be given together', {
    why: 'cutting a guest off can damage its data, so both the wish and the time have to be said',
    fix: 'add the other one, e.g. --force --grace-period 0',
    exitCode: 2,
  });
}
