import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { ON_KUBERNETES } from '../e2e/on-kubernetes.ts';

test('of each end-to-end test it is said whether it runs on a real Kubernetes, too', () => {
  const files = readdirSync(join(import.meta.dirname, '../e2e')).filter((file) => file.endsWith('.test.ts'));
  assert.deepEqual(files.map((file) => basename(file, '.test.ts')).sort(), Object.keys(ON_KUBERNETES).sort());
});
