/** Brings machines off launchers of an older installation, and says how many there are: the loop of observe, `decide` and reconcile's apply. */
import type { Pod } from '../../api/core/pod.ts';
import type { KubeVirt } from '../../api/kubevirt/kinds/kubevirt.ts';
import { isMigrationFinal, type VirtualMachineInstanceMigration } from '../../api/kubevirt/kinds/migration.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { currentLauncherNameOf } from '../../api/launcher/pod-name.ts';
import { keyOf } from '../../api/meta.ts';
import type { Cache } from '../../client/cache.ts';
import type { FollowedConfiguration } from '../../client/follow-configuration.ts';
import { type ControllerOptions, runController } from '../../reconcile/controller.ts';
import { BY_CONTROLLER } from '../../reconcile/owner.ts';
import { changesOf } from '../../reconcile/source.ts';
import { BY_VMI } from '../migration/observe.ts';
import { decideWorkloadUpdate, MOST_LABELS, type ObservedWorkloads } from './decide.ts';
import { OutdatedMachines } from './outdated-machines.ts';

type Options = Pick<ControllerOptions<ObservedWorkloads>, 'client' | 'clock' | 'log' | 'metrics' | 'signal'> & {
  readonly kubeVirts: Cache<KubeVirt>;
  readonly vmis: Cache<VirtualMachineInstance>;
  readonly pods: Cache<Pod>;
  /** By `byVmi`. */
  readonly migrations: Cache<VirtualMachineInstanceMigration>;
  readonly launcherImage: string;
  readonly configuration: FollowedConfiguration;
};

/** Runs until the signal aborts. */
export function runWorkloadUpdateController(options: Options): Promise<void> {
  const { kubeVirts, vmis, pods, migrations, launcherImage, configuration, ...shared } = options;
  const { clock } = shared;
  /** Not kept anywhere: after a restart a batch may come early. */
  let lastBatchAt: number | undefined;
  const theirs = () => kubeVirts.list().map(({ metadata }) => keyOf(metadata));
  const podOf = (vmi: VirtualMachineInstance) =>
    pods.byIndex(BY_CONTROLLER, vmi.metadata.uid ?? '').find(({ metadata }) => metadata.name === currentLauncherNameOf(vmi));
  const outdated = new OutdatedMachines({ vmis, pods, launcherImage }, theirs);
  return runController<ObservedWorkloads>({
    ...shared,
    name: 'workload-update-controller',
    workers: 1,
    triggers: [
      changesOf(kubeVirts, ({ metadata }) => [keyOf(metadata)]),
      outdated.source,
      ...[vmis, pods, migrations].map((cache) => changesOf<never>(cache as Cache<never>, theirs)), // only that something changed matters
    ],
    observe: (key) => {
      const kubeVirt = kubeVirts.get(key);
      if (!kubeVirt) return undefined;
      const isAsked = (kubeVirt.spec.workloadUpdateStrategy?.workloadUpdateMethods ?? []).length > 0;
      return {
        kubeVirt,
        launcherImage,
        outdated: outdated.count,
        mislabelled: outdated.mislabelled(MOST_LABELS),
        machines: (isAsked ? vmis.list() : []).map((vmi) => ({
          vmi,
          pod: podOf(vmi),
          migrations: migrations.byIndex(BY_VMI, keyOf(vmi.metadata)),
        })),
        underWay: isAsked ? migrations.list().filter((each) => !isMigrationFinal(each)).length : 0,
        parallel: configuration.current.migrations.parallelMigrationsPerCluster,
        lastBatchAt,
        now: clock.now(),
      };
    },
    decide: (seen) => {
      const decision = decideWorkloadUpdate(seen);
      if (decision.actions.some((action) => action.do === 'delete')) lastBatchAt = seen.now;
      return decision;
    },
    subject: ({ kubeVirt }) => kubeVirt,
  });
}
