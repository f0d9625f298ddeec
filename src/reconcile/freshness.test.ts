import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PODS, type Pod } from '../api/core/pod.ts';
import { VMS } from '../api/kubevirt/kinds/virtual-machine.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { handFedCache } from '../testing/hand-fed-cache.ts';
import { quiet } from '../testing/until.ts';
import { Freshness } from './freshness.ts';

const pod = (name: string, resourceVersion: string) =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', uid: name, resourceVersion },
    spec: { containers: [] },
  }) as Pod;

function freshness() {
  const pods = handFedCache<Pod>(PODS);
  const clock = new FakeClock();
  const waited = new Freshness({ caches: [pods, handFedCache(VMS)], clock, signal: new AbortController().signal });
  /** Whether the caches are said to show this now. */
  const shows = async (written: Parameters<Freshness['caughtUp']>[0][number]) => {
    let isOver = false;
    void waited.caughtUp([written]).then(() => {
      isOver = true;
    });
    await quiet();
    return isOver;
  };
  return { pods, clock, waited, shows };
}

test('a write is seen when its kind has come as far, by number and not by letter', async () => {
  const { pods, shows } = freshness();
  assert.equal(await shows({ wrote: pod('a', '9') }), false);
  pods.put(pod('b', '9'));
  assert.equal(await shows({ wrote: pod('a', '9') }), true);
  assert.equal(await shows({ wrote: pod('a', '10') }), false);
  const beyondNumbers = '9007199254740993';
  pods.put(pod('b', beyondNumbers));
  assert.deepEqual(
    await Promise.all(['10', '9007199254740992', beyondNumbers, '9007199254740994'].map((version) => shows({ wrote: pod('a', version) }))),
    [true, true, true, false],
  );
});

test('an older version, as a first list may have, is no step back', async () => {
  const { pods, shows } = freshness();
  pods.put(pod('a', '12'));
  pods.put(pod('b', '3'));
  assert.equal(await shows({ wrote: pod('a', '12') }), true);
});

test('what no cache can show is not waited for, and nothing for longer than a few seconds', async () => {
  const { clock, waited, shows } = freshness();
  assert.equal(await shows({ wrote: { apiVersion: 'v1', kind: 'Event', metadata: { name: 'a', resourceVersion: '5' } } }), true);
  assert.equal(await shows({ wrote: pod('a', 'opaque') }), true);
  const waiting = waited.caughtUp([{ wrote: pod('a', '5') }]);
  await quiet();
  clock.advance(5_000);
  await waiting;
});
