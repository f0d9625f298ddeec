import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { NAMESPACES } from '../../../api/core/namespace.ts';
import { PODS, type Pod } from '../../../api/core/pod.ts';
import { LIMIT_RANGES, type LimitRangeItem } from '../../../api/core/resource-quota.ts';
import { PERSISTENT_VOLUME_CLAIMS } from '../../../api/core/volume.ts';
import { outcome } from '../access/rights.testing.ts';
import { startTestServer, type TestServer } from '../test-server.testing.ts';

let api: TestServer;
before(async () => {
  api = await startTestServer();
});
after(() => api.close());

let namespaces = 0;
async function withLimits(...limits: LimitRangeItem[]): Promise<string> {
  namespaces += 1;
  const namespace = `l${namespaces}`;
  await api.client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  const metadata = { name: 'limits', namespace };
  await api.client.create(LIMIT_RANGES, { apiVersion: 'v1', kind: 'LimitRange', metadata, spec: { limits } });
  return namespace;
}

function pod(namespace: string, ...resources: object[]): Pod {
  const containers = resources.map((each, i) => ({ name: `c${i}`, image: 'i', resources: each }));
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace }, spec: { containers } };
}

describe('a LimitRange', () => {
  test('gives containers what they do not say, and the Pod says so', async () => {
    const namespace = await withLimits({
      type: 'Container',
      default: { cpu: '500m', memory: '128Mi' },
      defaultRequest: { cpu: '100m', memory: '64Mi' },
    });
    const { spec, metadata, status } = await api.client.create(PODS, pod(namespace, {}, { limits: { cpu: '200m', memory: '1Mi' } }));
    assert.deepEqual(
      [spec.containers.map(({ resources }) => resources), metadata.annotations, status?.qosClass],
      [
        [
          { limits: { cpu: '500m', memory: '128Mi' }, requests: { cpu: '100m', memory: '64Mi' } },
          { limits: { cpu: '200m', memory: '1Mi' }, requests: { cpu: '200m', memory: '1Mi' } },
        ],
        {
          'kubernetes.io/limit-ranger': 'LimitRanger plugin set: cpu, memory request for container c0; cpu, memory limit for container c0',
        },
        'Burstable',
      ],
    );
  });

  test('has defaults of its own: from the most, else from the least', async () => {
    const namespace = await withLimits({ type: 'Container', max: { cpu: '1' }, min: { memory: '1Mi' } });
    const stored = await api.client.get(LIMIT_RANGES, { namespace, name: 'limits' });
    assert.deepEqual(stored?.spec?.limits, [
      { type: 'Container', max: { cpu: '1' }, min: { memory: '1Mi' }, default: { cpu: '1' }, defaultRequest: { cpu: '1', memory: '1Mi' } },
    ]);
  });

  const REFUSED: readonly [item: LimitRangeItem, resources: object[], why: string][] = [
    [
      { type: 'Container', min: { cpu: '100m' } },
      [{ requests: { cpu: '50m' } }],
      'minimum cpu usage per Container is 100m, but request is 50m',
    ],
    [
      { type: 'Container', max: { memory: '1Gi' } },
      [{ limits: { memory: '2Gi' } }],
      'maximum memory usage per Container is 1Gi, but limit is 2Gi',
    ],
    [
      { type: 'Container', max: { memory: '1Gi', cpu: '1' } },
      [{ limits: { memory: '2Gi', cpu: '3' } }],
      '[maximum memory usage per Container is 1Gi, but limit is 2Gi, maximum cpu usage per Container is 1, but limit is 3]',
    ],
    [
      { type: 'Pod', max: { cpu: '1' } },
      [{ limits: { cpu: '600m' } }, { limits: { cpu: '600m' } }],
      'maximum cpu usage per Pod is 1, but limit is 1200m',
    ],
    [{ type: 'Pod', max: { cpu: '1' } }, [{}], 'maximum cpu usage per Pod is 1.  No limit is specified'],
    [{ type: 'Pod', min: { cpu: '1' } }, [{}], 'minimum cpu usage per Pod is 1.  No request is specified'],
    [
      { type: 'Container', maxLimitRequestRatio: { cpu: '2' } },
      [{ requests: { cpu: '1' }, limits: { cpu: '3' } }],
      'cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000',
    ],
  ];
  for (const [item, resources, why] of REFUSED) {
    test(`refuses a Pod: ${why}`, async () => {
      const namespace = await withLimits(item);
      assert.equal(await outcome(api.client.create(PODS, pod(namespace, ...resources))), `pods "p" is forbidden: ${why}`);
    });
  }

  test('holds claims to the least and the most, also when they grow', async () => {
    const namespace = await withLimits({ type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '2Gi' } });
    const claim = (storage: string) =>
      ({
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'c', namespace },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
      }) as const;
    const refused = 'persistentvolumeclaims "c" is forbidden: ';
    assert.equal(
      await outcome(api.client.create(PERSISTENT_VOLUME_CLAIMS, claim('1Mi'))),
      `${refused}minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1Mi`,
    );
    await api.client.create(PERSISTENT_VOLUME_CLAIMS, claim('2Gi'));
    const patch = { spec: { resources: { requests: { storage: '3Gi' } } } };
    assert.equal(
      await outcome(api.client.patch(PERSISTENT_VOLUME_CLAIMS, { namespace, name: 'c' }, patch)),
      `${refused}maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi`,
    );
  });

  test('that contradicts itself is refused', async () => {
    const limits = [{ type: 'Container', min: { cpu: '2' }, max: { cpu: '1' } }, { type: 'Node' }];
    const metadata = { name: 'bad', namespace: 'default' };
    await assert.rejects(
      api.client.create(LIMIT_RANGES, { apiVersion: 'v1', kind: 'LimitRange', metadata, spec: { limits } }),
      /min value 2 is greater than max value 1.*spec.limits\[1\].type: Unsupported value: "Node"/,
    );
  });
});
