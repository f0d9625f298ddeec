/** How one move goes: what the configuration of the installation says, and for its machine a policy. Every setting has a value. Pure. */
import { invalidCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { parseQuantity } from '../../../base/quantity.ts';
import type { Static } from '../../schema/dsl.ts';
import type { migrationConfigurationSchema, POLICY_FIELDS } from './migration-configuration-schema.ts';

export type MigrationConfiguration = Static<typeof migrationConfigurationSchema>;
/** What a policy may say of it. */
export type PolicySettings = Pick<MigrationConfiguration, keyof typeof POLICY_FIELDS>;
export type MigrationSettings = Required<
  Pick<
    MigrationConfiguration,
    keyof typeof POLICY_FIELDS | 'parallelMigrationsPerCluster' | 'parallelOutboundMigrationsPerNode' | 'progressTimeout'
  >
>;

/** As published, but for the time that a guest stands still: there is no reason to let it be longer than a person notices. */
export const DEFAULT_MIGRATIONS: MigrationSettings = {
  allowAutoConverge: false,
  allowPostCopy: false,
  allowWorkloadDisruption: false,
  bandwidthPerMigration: '0',
  completionTimeoutPerGiB: 150,
  maxDowntimeMs: 300,
  parallelMigrationsPerCluster: 5,
  parallelOutboundMigrationsPerNode: 2,
  progressTimeout: 150,
};
const SETTINGS = Object.keys(DEFAULT_MIGRATIONS) as (keyof MigrationSettings)[]; // all of its keys, and no others
const BY_POLICY: readonly (keyof PolicySettings)[] = [
  'allowAutoConverge',
  'allowPostCopy',
  'allowWorkloadDisruption',
  'bandwidthPerMigration',
  'completionTimeoutPerGiB',
  'maxDowntimeMs',
];

/** What holds where nothing else is said. */
export function migrationSettingsOf(configuration: MigrationConfiguration = {}): MigrationSettings {
  return { ...DEFAULT_MIGRATIONS, ...saidOf(SETTINGS, configuration) };
}

/** What holds for machines of a policy. */
export function withPolicy(settings: MigrationSettings, policy: PolicySettings | undefined): MigrationSettings {
  return policy ? { ...settings, ...saidOf(BY_POLICY, policy) } : settings;
}

/** Bytes a second; undefined for as many as there are. */
export function bandwidthOf({ bandwidthPerMigration }: Pick<MigrationSettings, 'bandwidthPerMigration'>): number | undefined {
  return Math.floor(parseQuantity(bandwidthPerMigration) ?? 0) || undefined;
}

/** What cannot be had, by name, and what means nothing. */
export function migrationCauses(configuration: MigrationConfiguration, at: string): StatusCause[] {
  const { allowPostCopy, disableTLS, bandwidthPerMigration: bandwidth } = configuration;
  const bytes = bandwidth === undefined ? 0 : parseQuantity(bandwidth);
  return [
    ...(allowPostCopy
      ? [
          invalidCause(
            `${at}.allowPostCopy`,
            true,
            'post-copy cannot be had without privileges; allowWorkloadDisruption ends a move that takes too long',
          ),
        ]
      : []),
    ...(disableTLS ? [invalidCause(`${at}.disableTLS`, true, 'memory and disks of guests go between nodes by TLS alone')] : []),
    ...(bytes === undefined || bytes < 0
      ? [invalidCause(`${at}.bandwidthPerMigration`, bandwidth, 'must be bytes a second, as in 64Mi, or 0 for no limit')]
      : []),
  ];
}

function saidOf<K extends keyof MigrationConfiguration>(
  keys: readonly K[],
  said: MigrationConfiguration,
): Partial<Pick<MigrationSettings, never>> {
  return Object.fromEntries(keys.filter((key) => said[key] !== undefined).map((key) => [key, said[key]]));
}
