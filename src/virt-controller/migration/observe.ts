/** Gathers what `decideMigration` looks at: the migration, its instance, the Pods on both sides, the other migrations. */

import { NAMESPACES } from '../../api/core/namespace.ts';
import type { Node } from '../../api/core/node.ts';
import { PODS, type Pod } from '../../api/core/pod.ts';
import { hindranceOf } from '../../api/kubevirt/exclusive-operations.ts';
import { isMigrationFinal, type VirtualMachineInstanceMigration } from '../../api/kubevirt/kinds/migration.ts';
import type { MigrationPolicy } from '../../api/kubevirt/kinds/migration-policy.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { ANNOTATION_MIGRATION_JOB, LABEL_MIGRATION_JOB } from '../../api/kubevirt/names.ts';
import { isTargetOf, launcherPodNameOf } from '../../api/launcher/pod-name.ts';
import { isDeleting, type KubeObject, keyOf } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import type { Cache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';
import type { FollowedConfiguration } from '../../client/follow-configuration.ts';
import { BY_CONTROLLER } from '../../reconcile/owner.ts';
import type { WriteErrors } from '../../reconcile/write-errors.ts';
import { claimsOf } from '../vmi/claims-of.ts';
import { offersKvm } from '../vmi/launcher-resources.ts';
import type { ContainerDiskWay } from '../vmi/launcher-volumes.ts';
import { choosePolicy, lookAtNamespaces } from './choose-policy.ts';
import type { ObservedMigration } from './observed.ts';
import { countUnderWay, isMoverBefore, type Mover, type MoveStage, type UnderWay } from './under-way.ts';

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
  /** Why Pods to go to could not be made, by the keys of the migrations. */
  readonly createErrors: WriteErrors;
};

export const BY_VMI = 'vmi';
/** Migrations by the key of the instance that they move. */
export const byVmi = { [BY_VMI]: (migration: VirtualMachineInstanceMigration): readonly string[] => [vmiKeyOf(migration)] };

function vmiKeyOf({ metadata: { namespace }, spec }: VirtualMachineInstanceMigration): string {
  return keyOf({ namespace, name: spec.vmiName ?? '' });
}

/** The key of the migration that this Pod was made for. */
export function migrationKeyOf({ metadata: { namespace, annotations } }: KubeObject): string | undefined {
  const name = annotations?.[ANNOTATION_MIGRATION_JOB];
  return name === undefined ? undefined : keyOf({ namespace, name });
}

/** What is known of the migration with this key; undefined when it is gone. */
export async function observeMigration(observer: MigrationObserver, key: string): Promise<ObservedMigration | undefined> {
  const { clock, migrations, vmis, nodes, launcherImage, containerDisks, createErrors } = observer;
  await observer.configuration.known;
  const migration = migrations.get(key);
  if (!migration) {
    createErrors.forget(key);
    return undefined;
  }
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
    createError: createErrors.get(key),
    policy: vmi && migration.status?.phase === 'Scheduled' ? await policyOf(observer, vmi) : undefined,
    underWay: underWayBeside(observer, migration, vmi),
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
  return isMoverBefore(orderOf(a), orderOf(b));
}

function orderOf({ metadata: { uid = '', creationTimestamp: createdAt = '' } }: VirtualMachineInstanceMigration) {
  return { uid, createdAt };
}

/** Only those who may get their turn now look closer: there may be thousands that wait. */
function underWayBeside(observer: MigrationObserver, migration: VirtualMachineInstanceMigration, vmi?: VirtualMachineInstance): UnderWay {
  const limits = observer.configuration.current.migrations;
  const phase = migration.status?.phase;
  if (phase !== 'Pending' && phase !== 'Scheduled') return { inCluster: 0, fromNode: 0 };
  const others = observer.migrations.list().filter((each) => !isMigrationFinal(each) && each.metadata.uid !== migration.metadata.uid);
  const inCluster = others.filter(({ status }) => status?.phase !== undefined && status.phase !== 'Pending').length;
  if (phase === 'Pending' && inCluster >= limits.parallelMigrationsPerCluster) return { inCluster, fromNode: 0 };
  const movers = others.map((each) => moverOf(observer, each, observer.vmis.get(vmiKeyOf(each))));
  return countUnderWay(moverOf(observer, migration, vmi), movers, limits);
}

function moverOf(observer: MigrationObserver, migration: VirtualMachineInstanceMigration, vmi: VirtualMachineInstance | undefined): Mover {
  const isUnwanted = !vmi || isDeleting(migration) || migration.status?.phase === undefined;
  return {
    ...orderOf(migration),
    node: vmi?.status?.nodeName,
    stage: stageOf(observer, migration, vmi),
    isHindered: isUnwanted || hindranceOf('move', vmi) !== undefined,
  };
}

/** Its phase may be behind what was done for it. */
function stageOf(
  { pods }: MigrationObserver,
  { metadata: { uid = '' }, status }: VirtualMachineInstanceMigration,
  vmi?: VirtualMachineInstance,
): MoveStage {
  const { phase } = status ?? {};
  const isTold = vmi?.status?.migrationState?.migrationUid === uid;
  if (isTold || phase === 'PreparingTarget' || phase === 'TargetReady' || phase === 'Running') return 'was told';
  if (phase === 'Scheduled') return 'has a Pod that is up';
  const isPlaced =
    vmi &&
    pods
      .byIndex(BY_CONTROLLER, vmi.metadata.uid ?? '')
      .some((pod) => pod.metadata.labels?.[LABEL_MIGRATION_JOB] === uid && isTargetOf(pod, vmi, uid));
  return phase === 'Scheduling' || isPlaced ? 'has a Pod' : 'waits';
}
