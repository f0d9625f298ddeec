/** Carries migrations through: the loop of `observe`, `decide` and reconcile's apply. */
import { type KubeObject, keyOf } from '../../api/meta.ts';
import { type ControllerOptions, runController } from '../../reconcile/controller.ts';
import { ownerKeysOf } from '../../reconcile/owner.ts';
import { changesOf } from '../../reconcile/source.ts';
import { decideMigration } from './decide.ts';
import { BY_VMI, type MigrationObserver, observeMigration } from './observe.ts';
import type { ObservedMigration } from './observed.ts';

/** Runs until the signal aborts. */
export function runMigrationController(
  options: MigrationObserver & Pick<ControllerOptions<ObservedMigration>, 'log' | 'metrics' | 'signal'>,
): Promise<void> {
  const { client, clock, log, metrics, signal, migrations, vmis, pods } = options;
  const ofInstance = (key: string) => migrations.byIndex(BY_VMI, key).map(({ metadata }) => keyOf(metadata));
  const ownersOf = ownerKeysOf('VirtualMachineInstance');
  return runController<ObservedMigration>({
    name: 'migration-controller',
    client,
    clock,
    log,
    metrics,
    signal,
    triggers: [
      changesOf(migrations, ({ metadata }) => [keyOf(metadata)]),
      changesOf(vmis, ({ metadata }: KubeObject) => ofInstance(keyOf(metadata))),
      changesOf(pods, (pod) => ownersOf(pod).flatMap(ofInstance)),
    ],
    observe: (key) => observeMigration(options, key),
    decide: decideMigration,
    subject: ({ migration }) => migration,
  });
}
