/** Moves machines off nodes that are being drained: the loop of observe, `decide` and reconcile's apply. */
import type { VirtualMachineInstanceMigration } from '../../api/kubevirt/kinds/migration.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { keyOf } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import type { Cache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';
import { type ControllerOptions, runController } from '../../reconcile/controller.ts';
import { changesOf } from '../../reconcile/source.ts';
import { BY_VMI } from '../migration/observe.ts';
import { decideEvacuation, type ObservedEvacuation } from './decide.ts';

type EvacuationOptions = {
  readonly client: Client;
  readonly clock: Clock;
  readonly vmis: Cache<VirtualMachineInstance>;
  /** By `byVmi`. */
  readonly migrations: Cache<VirtualMachineInstanceMigration>;
};

/** Runs until the signal aborts. */
export function runEvacuationController(
  options: EvacuationOptions & Pick<ControllerOptions<ObservedEvacuation>, 'log' | 'metrics' | 'signal'>,
): Promise<void> {
  const { client, clock, log, metrics, signal, vmis, migrations } = options;
  return runController<ObservedEvacuation>({
    name: 'evacuation-controller',
    client,
    clock,
    log,
    metrics,
    signal,
    triggers: [
      changesOf(vmis, ({ metadata, status }) => (status?.evacuationNodeName ? [keyOf(metadata)] : [])),
      changesOf(migrations, ({ metadata: { namespace }, spec }) => [keyOf({ namespace, name: spec.vmiName ?? '' })]),
    ],
    observe: async (key) => {
      const vmi = vmis.get(key);
      return vmi && { vmi, migrations: migrations.byIndex(BY_VMI, key), now: clock.now() };
    },
    decide: decideEvacuation,
    subject: ({ vmi }) => vmi,
  });
}
