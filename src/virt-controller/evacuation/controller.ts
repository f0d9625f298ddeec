/** Moves machines off nodes that are being drained: the loop of observe, `decide` and reconcile's apply. */
import type { Node } from '../../api/core/node.ts';
import { evictionStrategyOf, hasDrainTaint } from '../../api/kubevirt/draining.ts';
import type { VirtualMachineInstanceMigration } from '../../api/kubevirt/kinds/migration.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { keyOf } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import type { Cache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';
import type { FollowedConfiguration } from '../../client/follow-configuration.ts';
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
  readonly nodes: Cache<Node>;
  readonly configuration: FollowedConfiguration;
};

/** Runs until the signal aborts. */
export function runEvacuationController(
  options: EvacuationOptions & Pick<ControllerOptions<ObservedEvacuation>, 'log' | 'metrics' | 'signal'>,
): Promise<void> {
  const { client, clock, log, metrics, signal, vmis, migrations, nodes, configuration } = options;
  const hasToLeave = (vmi: VirtualMachineInstance) => {
    const { nodeName } = vmi.status ?? {};
    return nodeName !== undefined && hasDrainTaint(nodes.get(nodeName), configuration.current);
  };
  const keysOn = ({ metadata: { name } }: Node) =>
    vmis.list().flatMap(({ metadata, status }) => (status?.nodeName === name ? [keyOf(metadata)] : []));
  return runController<ObservedEvacuation>({
    name: 'evacuation-controller',
    client,
    clock,
    log,
    metrics,
    signal,
    triggers: [
      changesOf(vmis, (vmi) => (vmi.status?.evacuationNodeName || hasToLeave(vmi) ? [keyOf(vmi.metadata)] : [])),
      changesOf(nodes, (node) => (hasDrainTaint(node, configuration.current) ? keysOn(node) : [])),
      changesOf(migrations, ({ metadata: { namespace }, spec }) => [keyOf({ namespace, name: spec.vmiName ?? '' })]),
    ],
    observe: async (key) => {
      await configuration.known;
      const vmi = vmis.get(key);
      const strategy = vmi && evictionStrategyOf(vmi, configuration.current);
      return (
        vmi && strategy && { vmi, strategy, hasToLeave: hasToLeave(vmi), migrations: migrations.byIndex(BY_VMI, key), now: clock.now() }
      );
    },
    decide: decideEvacuation,
    subject: ({ vmi }) => vmi,
  });
}
