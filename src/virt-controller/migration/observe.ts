/** Gathers what `decideMigration` looks at: the migration, its instance, the Pods on both sides, the other migrations. */

import { NAMESPACES } from '../../api/core/namespace.ts';
import type { Node } from '../../api/core/node.ts';
import { PODS, type Pod } from '../../api/core/pod.ts';
import { isMigrationFinal, type VirtualMachineInstanceMigration } from '../../api/kubevirt/kinds/migration.ts';
import type { MigrationPolicy } from '../../api/kubevirt/kinds/migration-policy.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { isTargetOf, launcherPodNameOf } from '../../api/launcher/pod-name.ts';
import { keyOf } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import type { Cache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';
import type { FollowedConfiguration } from '../../client/follow-configuration.ts';
import { BY_CONTROLLER } from '../../reconcile/owner.ts';
import { claimsOf } from '../vmi/claims-of.ts';
import { offersKvm } from '../vmi/launcher-resources.ts';
import type { ContainerDiskWay } from '../vmi/launcher-volumes.ts';
import { choosePolicy, lookAtNamespaces } from './choose-policy.ts';
import type { ObservedMigration } from './observed.ts';

export type MigrationObserver = {
  readonly client: Client;
  readonly clock: Clock;
  /** By `byVmi`. */
  readonly migrations: Cache<VirtualMachineInstanceMigration>;
  readonly vmis: Cache<VirtualMachineInstance>;
  readonly pods: Cache<Pod>;
  readonly policies: Cache<MigrationPolicy>;
  readonly nodes: Cache<Node>;
  readonly launcherImage: string;
  readonly containerDisks?: ContainerDiskWay | undefined;
  readonly configuration: FollowedConfiguration;
};

export const BY_VMI = 'vmi';
/** Migrations by the key of the instance that they move. */
export const byVmi = { [BY_VMI]: (migration: VirtualMachineInstanceMigration): readonly string[] => [vmiKeyOf(migration)] };

function vmiKeyOf({ metadata: { namespace }, spec }: VirtualMachineInstanceMigration): string {
  return keyOf({ namespace, name: spec.vmiName ?? '' });
}

/** What is known of the migration with this key; undefined when it is gone. */
export async function observeMigration(observer: MigrationObserver, key: string): Promise<ObservedMigration | undefined> {
  const { clock, migrations, vmis, nodes, launcherImage, containerDisks } = observer;
  await observer.configuration.known;
  const migration = migrations.get(key);
  if (!migration) return undefined;
  const vmi = vmis.get(vmiKeyOf(migration));
  const siblings = migrations.byIndex(BY_VMI, vmiKeyOf(migration)).filter(({ metadata }) => metadata.uid !== migration.metadata.uid);
  const targetPod = vmi && (await targetOf(observer, vmi, migration));
  const isNew = migration.status?.phase === 'Pending' && !targetPod;
  const claims = vmi && isNew ? await claimsOf(observer.client, vmi) : undefined;
  return {
    migration,
    vmi,
    targetPod,
    sourcePod: vmi && sourceOf(observer, vmi, migration),
    earlier: siblings.find((each) => !isMigrationFinal(each) && isBefore(each, migration))?.metadata.name,
    policy: vmi && migration.status?.phase === 'Scheduled' ? await policyOf(observer, vmi) : undefined,
    underWay: countUnderWay(observer, vmi),
    finished: [migration, ...siblings].filter(isMigrationFinal).toSorted((a, b) => (isBefore(a, b) ? 1 : -1)),
    settings: observer.configuration.current.migrations,
    launcher: {
      image: launcherImage,
      containerDisks,
      claims,
      hasKvm: nodes.list().some(offersKvm),
      configuration: observer.configuration.current,
    },
    now: clock.now(),
  };
}

/** From the cache, and asked for before it is said to be gone. */
async function targetOf(
  { client, pods }: MigrationObserver,
  vmi: VirtualMachineInstance,
  { metadata: { uid = '' } }: VirtualMachineInstanceMigration,
): Promise<Pod | undefined> {
  const known = pods.byIndex(BY_CONTROLLER, vmi.metadata.uid ?? '').find((pod) => isTargetOf(pod, vmi, uid));
  if (known) return known;
  const pod = await client.get(PODS, { namespace: vmi.metadata.namespace, name: launcherPodNameOf(vmi, uid) });
  return pod && isTargetOf(pod, vmi, uid) ? pod : undefined;
}

async function policyOf(
  { client, policies }: MigrationObserver,
  { metadata }: VirtualMachineInstance,
): Promise<MigrationPolicy | undefined> {
  const all = policies.list();
  const namespace = lookAtNamespaces(all) ? await client.get(NAMESPACES, { name: metadata.namespace ?? '' }) : undefined;
  return choosePolicy(all, { vmi: metadata.labels, namespace: namespace?.metadata.labels });
}

function sourceOf({ pods }: MigrationObserver, vmi: VirtualMachineInstance, { status }: VirtualMachineInstanceMigration): Pod | undefined {
  const name = status?.migrationState?.sourcePod;
  return pods.byIndex(BY_CONTROLLER, vmi.metadata.uid ?? '').find((pod) => pod.metadata.name === name);
}

function isBefore(a: VirtualMachineInstanceMigration, b: VirtualMachineInstanceMigration): boolean {
  const [at, bt] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? ''];
  return at === bt ? (a.metadata.uid ?? '') < (b.metadata.uid ?? '') : at < bt;
}

/** Those that have a Pod to go to, or are about to. */
function countUnderWay({ migrations, vmis }: MigrationObserver, vmi: VirtualMachineInstance | undefined): ObservedMigration['underWay'] {
  const active = migrations
    .list()
    .filter((each) => !isMigrationFinal(each) && each.status?.phase !== undefined && each.status.phase !== 'Pending');
  const node = vmi?.status?.nodeName;
  return { inCluster: active.length, fromNode: active.filter((each) => vmis.get(vmiKeyOf(each))?.status?.nodeName === node).length };
}
