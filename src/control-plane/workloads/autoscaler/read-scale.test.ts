import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HorizontalPodAutoscaler } from '../../../api/core/horizontal-pod-autoscaler.ts';
import { createClient } from '../../../client/client.ts';
import { ScaleReader } from './read-scale.ts';

const RESOURCES = { resources: ['deployments', 'deployments/scale'].map((name) => ({ name, kind: 'Deployment' })) };
const SCALE = { spec: { replicas: 1 }, status: { replicas: 1, selector: 'app=web' } };

/** Whatever is stored: an autoscaler may be older than the rule that refuses it. */
async function pathsFor(target: { apiVersion?: string; name: string }): Promise<string[]> {
  const asked: string[] = [];
  const fetch = async ({ url }: Request) => {
    const { pathname, search } = new URL(url);
    asked.push(`${pathname}${search}`);
    return Response.json(pathname === '/apis/apps/v1' ? RESOURCES : SCALE);
  };
  const autoscaler: HorizontalPodAutoscaler = {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'web', namespace: 'own' },
    spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', ...target }, maxReplicas: 5 },
  };
  const scale = await new ScaleReader(createClient({ fetch, baseUrl: 'https://api', userAgent: 'test' })).read(autoscaler);
  return [...asked, ...('path' in scale ? [scale.path] : [])];
}

const OWN = /^\/apis\/apps\/v1(?:\/namespaces\/own\/deployments\/[^/?]+\/scale)?$/;

test('the scale of a Deployment is where its name says', async () => {
  const path = '/apis/apps/v1/namespaces/own/deployments/web/scale';
  assert.deepEqual(await pathsFor({ name: 'web' }), ['/apis/apps/v1', path, path]);
});

for (const name of ['../../other/deployments/web', 'web/scale?', 'web?x=', 'web#', '..', '.', '%2e%2e', '..\\..\\other'])
  test(`a target called ${JSON.stringify(name)} leads neither to another namespace nor to another kind`, async () => {
    for (const path of await pathsFor({ name })) assert.match(path, OWN);
  });

for (const apiVersion of ['apps/v1/namespaces/other', '../v1', 'apps/..', 'v1?'])
  test(`a target of ${apiVersion} is not asked for`, async () => {
    for (const path of await pathsFor({ apiVersion, name: 'web' })) assert.ok(!path.includes('/deployments/'), path);
  });
