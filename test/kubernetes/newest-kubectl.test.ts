/** The checks of test/conformance once more, with the kubectl that comes with the real Kubernetes: newer than any package's. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { ensureKubernetes } from '../../tools/kubernetes/build.ts';
import { kubernetesSkipReason } from './kubernetes-skip-reason.ts';

const FILES = ['access', 'custom-resources', 'examples-of-containers', 'extension', 'kubectl', 'kubectl-examples'].map(
  (name) => `test/conformance/${name}.test.ts`,
);

test('our API server serves the newest kubectl', { skip: kubernetesSkipReason() }, () => {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env; // a runner of its own
  const { status, stdout } = spawnSync(process.execPath, ['--test', ...FILES], {
    encoding: 'utf8',
    env: { ...env, KUBECTL: join(ensureKubernetes(), 'kubectl') },
    maxBuffer: 64 * 1024 * 1024,
  });
  assert.equal(status, 0, stdout);
});
