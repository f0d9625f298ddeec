/** Cancels the move of a machine: deletes the migration that is under way. */
import { isMigrationFinal, MIGRATIONS } from '../../../api/kubevirt/kinds/migration.ts';
import { ApiError } from '../../../base/errors.ts';
import type { ClusterDeps } from '../../deps.ts';
import type { LifecycleFlags } from '../../lifecycle/call-subresource.ts';
import { vmTargets } from '../../vm-target.ts';

export async function run({ client, namespace, stdout }: ClusterDeps, { dryRun }: LifecycleFlags, ...words: string[]): Promise<void> {
  if (dryRun) stdout.write('Dry Run execution\n');
  for (const { name } of vmTargets('migrate-cancel', words)) {
    const { items } = await client.list(MIGRATIONS, { namespace });
    const found = items.find((each) => each.spec.vmiName === name && !isMigrationFinal(each));
    if (!found) throw new ApiError('NotFound', `Found no migration to cancel for ${name}`);
    if (!dryRun) await client.delete(MIGRATIONS, found.metadata, { uid: found.metadata.uid });
    stdout.write(`VM ${name} was scheduled to migrate-cancel\n`);
  }
}
