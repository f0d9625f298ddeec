/** What may happen to a move, on a cluster whose parts are killed one by one: test/faults/guests/migration-faults.test.ts, unchanged. */
import assert from 'node:assert/strict';
import { basename, resolve } from 'node:path';
import { describe, test } from 'node:test';
import { run } from '../../e2e/harness.ts';
import { pushGuest } from '../push-images.ts';
import type { World } from './world.ts';

const PROJECT = resolve(import.meta.dirname, '../../..');
const FILE = 'test/faults/guests/migration-faults.test.ts';
/** All of them take three quarters of an hour. */
const LIMIT_MS = 100 * 60_000;

export function moveScenarios(world: World): void {
  describe('moves that are disturbed', () => {
    test(FILE, { timeout: LIMIT_MS }, async () => {
      await pushGuest(world.cluster, 'tiny', 'guests/tiny:latest');
      const { code, stdout, stderr } = await run(process.execPath, ['--test', `--test-timeout=${LIMIT_MS}`, FILE], {
        cwd: PROJECT,
        env: { E2E_REAL_CLUSTER: basename(world.cluster.folder), NODE_TEST_CONTEXT: undefined },
        timeoutMs: LIMIT_MS,
      });
      assert.equal(code, 0, `${stdout}${stderr}`);
    });
  });
}
