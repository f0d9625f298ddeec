import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { parse } from 'yaml';
import { KUBEVIRTS, type KubeVirt } from '../api/kubevirt/kinds/kubevirt.ts';
import type { KubeObject } from '../api/meta.ts';
import type { Resource } from '../api/resource.ts';
import { systemClock } from '../base/clock.ts';
import { silentLogger } from '../base/log.ts';
import { startTestServer } from '../control-plane/apiserver/test-server.testing.ts';
import { followConfiguration } from './follow-configuration.ts';

const CRDS: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  isNamespaced: false,
};

test('a changed configuration arrives, one that contradicts itself does not', { timeout: 30_000 }, async (t) => {
  const api = await startTestServer();
  const stop = new AbortController();
  t.after(async () => {
    stop.abort();
    await api.close();
  });
  await api.client.create(CRDS, parse(await readFile('deploy/crds/kubevirts.yaml', 'utf8')) as KubeObject);
  const at = { name: 'kubevirt', namespace: 'default' };
  const first: KubeVirt = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    metadata: at,
    spec: { configuration: { cpuModel: 'Penryn' } },
  };
  await api.client.create(KUBEVIRTS, first);
  const followed = followConfiguration({ client: api.client, clock: systemClock, log: silentLogger, signal: stop.signal });
  await followed.known;
  assert.equal(followed.current.cpuModel, 'Penryn');
  const changed = (configuration: object) => {
    const next = new Promise<string>((resolve) => followed.onChange(({ cpuModel }) => resolve(cpuModel)));
    return [api.client.patch(KUBEVIRTS, at, { spec: { configuration } }), next] as const;
  };

  await Promise.all(changed({ cpuModel: 'Haswell' }));
  assert.equal(followed.current.cpuModel, 'Haswell');
  const [contradiction] = changed({ cpuModel: 'EPYC', machineType: 'pc' });
  await contradiction;
  const seen = await Promise.all(changed({ cpuModel: 'Nehalem', machineType: null }));
  assert.equal(seen[1], 'Nehalem', 'what contradicted itself was never in force');
});
