import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerHealth, type HealthCheck } from './health.ts';

const CHECKS: readonly HealthCheck[] = [
  { name: 'ping', whyNot: () => undefined },
  { name: 'etcd', whyNot: () => undefined },
  { name: 'poststarthook/virt-api', whyNot: () => 'virt-api is starting', isOfReadiness: true },
];

const ANSWERS: readonly [name: string, path: string, status: number, text: string][] = [
  ['says ok and no more', '/livez', 200, 'ok'],
  ['says which checks it made', '/livez?verbose', 200, '[+]ping ok\n[+]etcd ok\nlivez check passed\n'],
  [
    'says which failed, not why',
    '/readyz',
    500,
    '[+]ping ok\n[+]etcd ok\n[-]poststarthook/virt-api failed: reason withheld\nreadyz check failed\n',
  ],
  [
    'leaves out what is excluded',
    '/readyz?verbose&exclude=poststarthook/virt-api&exclude=ping',
    200,
    '[+]ping excluded: ok\n[+]etcd ok\n[+]poststarthook/virt-api excluded: ok\nreadyz check passed\n',
  ],
  [
    'names what cannot be excluded',
    '/healthz?verbose&exclude=b&exclude=a',
    200,
    '[+]ping ok\n[+]etcd ok\nwarn: some health checks cannot be excluded: no matches for "a", "b"\nhealthz check passed\n',
  ],
  ['answers for one check', '/readyz/etcd', 200, 'ok'],
  ['says why one check failed', '/readyz/poststarthook/virt-api', 500, 'internal server error: virt-api is starting\n'],
];

for (const [name, path, status, text] of ANSWERS) {
  test(`${path} ${name}`, async () => {
    const response = answerHealth(CHECKS, new URL(path, 'https://k'));
    assert.deepEqual([response.status, await response.text()], [status, text]);
  });
}

test('a check that there is not, or that is of readiness alone, is not found', () => {
  for (const path of ['/livez/nope', '/livez/poststarthook/virt-api'])
    assert.throws(() => answerHealth(CHECKS, new URL(path, 'https://k')), { reason: 'NotFound' });
});
