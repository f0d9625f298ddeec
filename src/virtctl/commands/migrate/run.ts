/** Moves machines to other nodes while they run: one request each, and where asked for a look until it is over. */
import { isMigrationFinal, MIGRATIONS, type VirtualMachineInstanceMigration } from '../../../api/kubevirt/kinds/migration.ts';
import { VMS } from '../../../api/kubevirt/kinds/virtual-machine.ts';
import { VMIS } from '../../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { subresourcePath } from '../../../api/kubevirt/subresource-path.ts';
import { refusalOf } from '../../../api/kubevirt/vm-can.ts';
import { ApiError, UserError } from '../../../base/errors.ts';
import { hasColour } from '../../colour.ts';
import type { ClusterDeps } from '../../deps.ts';
import type { LifecycleFlags } from '../../lifecycle/call-subresource.ts';
import { moveProgressOf } from '../../move-progress.ts';
import { vmTargets } from '../../vm-target.ts';

export type MigrateFlags = LifecycleFlags & { readonly addedNodeSelector?: string; readonly check: boolean; readonly wait: boolean };

const LOOK_MS = 250;
/** For a terminal, as bytes: as text it would be shown. */
const CLEAR_LINE = '\r\x1b[2K';

export async function run(deps: ClusterDeps, flags: MigrateFlags, ...words: string[]): Promise<void> {
  const addedNodeSelector = selectorFrom(flags.addedNodeSelector);
  const names = vmTargets('migrate', words).map(({ name }) => name);
  if (flags.dryRun) deps.stdout.write('Dry Run execution\n');
  for (const name of names) {
    if (flags.check) await check(deps, name);
    else await migrate(deps, name, { ...flags, ...(addedNodeSelector && { labels: addedNodeSelector }) });
  }
}

async function check({ client, namespace, stdout }: ClusterDeps, name: string): Promise<void> {
  const [vm, vmi] = await Promise.all([client.get(VMS, { namespace, name }), client.get(VMIS, { namespace, name })]);
  if (!vm) throw new ApiError('NotFound', `virtualmachines.kubevirt.io "${name}" not found`);
  const refused = refusalOf('migrate', { vm, ...(vmi && { vmi }) });
  if (refused) throw new ApiError(refused.reason, `VM ${name} cannot be moved: ${refused.message}`);
  stdout.write(`VM ${name} can be moved\n`);
}

type Move = Pick<MigrateFlags, 'dryRun' | 'wait'> & { readonly labels?: Readonly<Record<string, string>> };

async function migrate(deps: ClusterDeps, name: string, { dryRun, wait, labels }: Move): Promise<void> {
  const { client, namespace, stdout } = deps;
  const before = wait ? new Set((await migrationsOf(deps, name)).map(({ metadata }) => metadata.uid)) : new Set();
  const body = { ...(labels && { addedNodeSelector: labels }), ...(dryRun && { dryRun: ['All'] }) };
  await client.request(subresourcePath({ namespace, resource: 'virtualmachines', name }, 'migrate'), {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  stdout.write(`VM ${name} was scheduled to migrate\n`);
  if (wait && !dryRun) await untilOver(deps, name, before);
}

async function untilOver(deps: ClusterDeps, name: string, before: ReadonlySet<unknown>): Promise<void> {
  const { clock, signal, stdout } = deps;
  const isLive = hasColour(stdout, process.env);
  let told = '';
  while (!signal.aborted) {
    const ours = (await migrationsOf(deps, name)).find(({ metadata }) => !before.has(metadata.uid));
    if (!ours) throw new UserError('MIGRATION_GONE', `the migration of ${name} was deleted`, { why: 'somebody has cancelled it' });
    const { phase = 'Pending', migrationState } = ours.status ?? {};
    if (isLive) stdout.write(Buffer.from(CLEAR_LINE));
    const tells = [phase, holdOf(ours)].filter(Boolean).join(': ');
    if (tells !== told) stdout.write(`${tells}\n`);
    told = tells;
    if (isLive && phase === 'Running') stdout.write(await progressLine(deps, name));
    if (phase === 'Succeeded') stdout.write(`VM ${name} runs on node ${migrationState?.targetNode}\n`);
    if (phase === 'Failed')
      throw new UserError('MIGRATION_FAILED', `VM ${name} was not moved`, {
        why: migrationState?.failureReason ?? 'it could not be begun',
        fix: `kubectl describe vmim ${ours.metadata.name}`,
      });
    if (isMigrationFinal(ours)) return;
    await clock.sleep(LOOK_MS, signal);
  }
}

/** Why it does not go on. */
function holdOf({ status }: VirtualMachineInstanceMigration): string | undefined {
  return isMigrationFinal({ status }) ? undefined : status?.conditions?.at(-1)?.message;
}

/** Nothing before the first two seconds are over, and of no move before. */
async function progressLine({ client, namespace, stdout: { columns } }: ClusterDeps, name: string): Promise<string> {
  const vmi = await client.get(VMIS, { namespace, name });
  const { progress } = vmi?.status?.migrationState ?? {};
  return progress ? moveProgressOf(progress).slice(0, (columns || 100) - 1) : '';
}

async function migrationsOf({ client, namespace }: ClusterDeps, name: string): Promise<readonly VirtualMachineInstanceMigration[]> {
  const { items } = await client.list(MIGRATIONS, { namespace });
  return items.filter(({ spec }) => spec.vmiName === name);
}

function selectorFrom(text: string | undefined): Readonly<Record<string, string>> | undefined {
  if (!text) return undefined;
  const labels = text.split(',').map((each) => each.split('='));
  if (labels.some((each) => each.length !== 2 || !each[0]))
    throw new UserError('USAGE', `--added-node-selector ${text}: labels are written key=value,key=value`, { exitCode: 2 });
  return Object.fromEntries(labels) as Record<string, string>; // pairs, as looked at
}
