/** What is shown of moves, by the names and labels that KubeVirt publishes: how many there are, what came of each, and how far those under way are. */
import { vmiIs } from '../../api/kubevirt/condition-reasons.ts';
import {
  isMoving,
  type MigrationPhase,
  type MigrationState,
  type VirtualMachineInstanceMigration,
} from '../../api/kubevirt/kinds/migration.ts';
import { isFinal, type VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { MetricFamily, MetricLabels, MetricSample } from '../../base/metrics.ts';

type Migrations = readonly VirtualMachineInstanceMigration[];
type Vmis = readonly VirtualMachineInstance[];
export type MoveFamily = Omit<MetricFamily, 'samples'> & {
  readonly samplesOf: (seen: { readonly migrations: Migrations; readonly vmis: Vmis }) => readonly MetricSample[];
};
type Progress = NonNullable<MigrationState['progress']>;

const COUNTED: Readonly<Record<string, readonly (MigrationPhase | undefined)[]>> = {
  unset: [undefined],
  pending: ['Pending'],
  scheduling: ['Scheduling'],
  running: ['Scheduled', 'PreparingTarget', 'TargetReady', 'Running'],
};

export const MOVE_FAMILIES: readonly MoveFamily[] = [
  ...Object.entries(COUNTED).map(
    ([name, phases]): MoveFamily => ({
      name: `kubevirt_vmi_migrations_in_${name}_phase`,
      help: `Migrations that are ${name === 'unset' ? 'not taken up yet' : name}.`,
      type: 'gauge',
      samplesOf: ({ migrations }) => [{ value: migrations.filter(({ status }) => phases.includes(status?.phase)).length }],
    }),
  ),
  endFamily('succeeded', 'Succeeded', 'Migrations that succeeded, as long as they are kept.'),
  endFamily('failed', 'Failed', 'Migrations that failed, as long as they are kept.'),
  stateFamily('start_time_seconds', 'When the guest of the last migration began to be sent.', ({ startTimestamp }) => startTimestamp),
  stateFamily('end_time_seconds', 'When the last migration of the instance was over.', ({ endTimestamp }) => endTimestamp),
  progressFamily('data_processed_bytes', 'Bytes of the guest that were sent.', ({ bytesDone }) => bytesDone),
  progressFamily('data_remaining_bytes', 'Bytes of the guest that are left to send.', ({ bytesLeft }) => bytesLeft),
  progressFamily('data_bytes_total', 'Bytes of the guest, sent and left.', ({ bytesDone, bytesLeft }) => bytesDone + bytesLeft, 'counter'),
  progressFamily('dirty_memory_rate_bytes', 'How much memory the guest writes a second.', (seen) => seen.dirtyBytesPerSecond),
  progressFamily('memory_transfer_rate_bytes', 'How fast memory is sent, a second.', ({ stage, bytesPerSecond }) =>
    stage === 'Memory' ? bytesPerSecond : undefined,
  ),
  {
    name: 'kubevirt_vmi_non_evictable',
    help: 'Whether the instance keeps its node from being drained: it is to be moved then, and cannot be.',
    type: 'gauge',
    samplesOf: ({ vmis }) => vmis.filter((vmi) => !isFinal(vmi)).map((vmi) => ({ labels: placed(vmi), value: isEvictable(vmi) ? 0 : 1 })),
  },
];

/** Whether its Pod may leave its node: it is moved, or it may be ended. */
export function isEvictable(vmi: VirtualMachineInstance): boolean {
  return vmi.spec.evictionStrategy !== 'LiveMigrate' || vmiIs(vmi, 'LiveMigratable');
}

function endFamily(name: string, phase: MigrationPhase, help: string): MoveFamily {
  return {
    name: `kubevirt_vmi_migration_${name}`,
    help,
    type: 'gauge',
    samplesOf: ({ migrations }) =>
      migrations
        .filter(({ status }) => status?.phase === phase)
        .map(({ metadata, spec }) => ({
          labels: { namespace: metadata.namespace ?? '', vmi: spec.vmiName ?? '', vmim: metadata.name },
          value: 1,
        })),
  };
}

/** Of the last move of each instance, as long as its migration is there to name it. */
function stateFamily(name: string, help: string, timeOf: (state: MigrationState) => string | undefined): MoveFamily {
  return {
    name: `kubevirt_vmi_migration_${name}`,
    help,
    type: 'gauge',
    samplesOf: ({ migrations, vmis }) => {
      const names = new Map(migrations.map(({ metadata }) => [metadata.uid, metadata.name]));
      return vmis.flatMap((vmi) => {
        const { migrationState: state } = vmi.status ?? {};
        const seconds = Date.parse((state && timeOf(state)) ?? '') / 1000;
        const migrationName = names.get(state?.migrationUid ?? '');
        if (!state || Number.isNaN(seconds) || migrationName === undefined) return [];
        const labels: MetricLabels = { ...placed(vmi), migration_name: migrationName };
        const came = state.failed ? 'failed' : 'succeeded';
        return [{ labels: name.startsWith('end') ? { ...labels, status: came } : labels, value: seconds }];
      });
    },
  };
}

/** Of moves that are under way, and take long enough for anybody to have been told how far they are. */
function progressFamily(
  name: string,
  help: string,
  of: (progress: Progress) => number | undefined,
  type: 'counter' | 'gauge' = 'gauge',
): MoveFamily {
  return {
    name: `kubevirt_vmi_migration_${name}`,
    help,
    type,
    samplesOf: ({ vmis }) =>
      vmis.flatMap((vmi) => {
        const { migrationState: state } = vmi.status ?? {};
        const value = isMoving(state) && state?.progress ? of(state.progress) : undefined;
        return value === undefined ? [] : [{ labels: placed(vmi), value }];
      }),
  };
}

function placed({ metadata, status }: VirtualMachineInstance): MetricLabels {
  return { node: status?.nodeName ?? '', namespace: metadata.namespace ?? '', name: metadata.name };
}
