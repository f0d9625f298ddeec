import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bandwidthOf, DEFAULT_MIGRATIONS, migrationCauses, migrationSettingsOf, withPolicy } from './migration-settings.ts';

test('a policy goes before the configuration, and that before the defaults; what neither says stays', () => {
  const settings = migrationSettingsOf({ completionTimeoutPerGiB: 10, progressTimeout: 20, disableTLS: false });
  assert.deepEqual(settings, { ...DEFAULT_MIGRATIONS, completionTimeoutPerGiB: 10, progressTimeout: 20 });
  const policy = { completionTimeoutPerGiB: 5, allowAutoConverge: true };
  assert.deepEqual(withPolicy(settings, policy), { ...settings, ...policy });
  assert.equal(withPolicy(settings, undefined), settings);
});

test('how many go at once is not for a policy to say', () => {
  const greedy = { parallelMigrationsPerCluster: 99 } as object;
  assert.deepEqual(withPolicy(DEFAULT_MIGRATIONS, greedy), DEFAULT_MIGRATIONS);
});

test('no limit of the network is 0', () => {
  const of = (bandwidthPerMigration: string | number) => bandwidthOf({ bandwidthPerMigration });
  assert.deepEqual([of('0'), of(0), of('64Mi'), of(1.5)], [undefined, undefined, 2 ** 26, 1]);
});

test('post-copy and plain text are refused by name, and so is what is no amount', () => {
  const fields = (configuration: Parameters<typeof migrationCauses>[0]) => migrationCauses(configuration, 'spec').map(({ field }) => field);
  assert.deepEqual(fields({ allowPostCopy: true, disableTLS: true }), ['spec.allowPostCopy', 'spec.disableTLS']);
  assert.deepEqual(fields({ bandwidthPerMigration: '-1' }), ['spec.bandwidthPerMigration']);
  assert.deepEqual(fields({ allowPostCopy: false, disableTLS: false, bandwidthPerMigration: '1Gi' }), []);
});
