import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { silentLogger } from '../../base/log.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { quiet, until } from '../../testing/until.ts';
import { PortLooks, type Wire } from './port-looks.ts';
import { isToBeOpen } from './port-verdicts.ts';

const card = { mac: '02:00:00:00:00:07', gateway: '10.0.2.1', guest: '10.0.2.2' };
const KEY = 'default/db';

test('a guest that stands still is not asked, and keeps what it had', async (t) => {
  const { looks, clock, given, asked } = watched(t, { takes: [80] });
  await until(() => isOpen(looks, 80) === true);
  given.isStill = true;
  given.takes = [];
  await passing(clock, 10);
  assert.deepEqual([isOpen(looks, 80), asked.length], [true, 1]);
  given.isStill = false;
  await until(() => {
    clock.advance(1_000);
    return isOpen(looks, 80) === false;
  });
});

test('a guest whose network cannot be asked has its ports open as if a firewall hid them', async (t) => {
  const { looks, clock } = watched(t, { takes: [], isBroken: true });
  await until(() => {
    clock.advance(1_000);
    return isOpen(looks, 80) === true;
  });
});

test('a port that is new is looked at at once, and many are asked for in several questions', async (t) => {
  const { looks, given, asked, changes } = watched(t, { takes: [80, 1_100] });
  await until(() => isOpen(looks, 80) === true);
  given.ports = [80, ...Array.from({ length: 512 }, (_, index) => 1_000 + index)];
  looks.watch(KEY, 'pod');
  await until(() => isOpen(looks, 1_100) === true);
  assert.deepEqual([asked.map((ports) => ports.length), changes.count], [[1, 256, 256, 1], 2]);
});

test('a guest that is reset loses its ports at once, whatever was answered before', async (t) => {
  const late = Promise.withResolvers<void>();
  const { looks, clock, given, asked } = watched(t, { takes: [80] });
  await until(() => isOpen(looks, 80) === true);
  given.never = late.promise;
  await until(() => {
    if (asked.length < 2) clock.advance(1_000);
    return asked.length === 2;
  });
  looks.hasReset(KEY);
  late.resolve();
  given.takes = [];
  await quiet();
  assert.equal(isOpen(looks, 80), false);
});

test('another Pod is another guest, and one that is forgotten is not asked any more', async (t) => {
  const { looks, clock, asked } = watched(t, { takes: [80] });
  await until(() => isOpen(looks, 80) === true);
  looks.watch(KEY, 'next');
  assert.equal(isOpen(looks, 80), undefined);
  await until(() => looks.verdictsOf(KEY, 'next')?.ports.size === 1);
  looks.forget(KEY);
  const before = asked.length;
  await passing(clock, 10);
  assert.equal(asked.length, before);
});

test('at most 32 guests of a node are asked at once', async (t) => {
  const { looks, given, asked } = watched(t, { takes: [], never: new Promise(() => {}) });
  given.ports = [80];
  for (let count = 0; count < 100; count++) looks.watch(`default/vm-${count}`, 'pod');
  await quiet();
  assert.equal(asked.length, 32);
});

type Given = { takes: number[]; ports?: number[]; isStill?: boolean; isBroken?: boolean; never?: Promise<void> };

function watched(t: TestContext, given: Given) {
  const clock = new FakeClock();
  const asked: (readonly number[])[] = [];
  const changes = { count: 0 };
  const ask: Wire['ask'] = async (_card, ports) => {
    if (given.isBroken) throw new Error('QEMU has no filters');
    asked.push(ports);
    await given.never;
    const takes = new Set(ports.filter((port) => given.takes.includes(port)));
    return { isThere: true, takes, refuses: new Set(ports.filter((port) => !takes.has(port))) };
  };
  const looks = new PortLooks({
    subjectOf: () => (given.isStill ? undefined : { card, ports: given.ports ?? [80] }),
    wireOf: () => ({ ask, close: () => {} }),
    clock,
    log: silentLogger,
    onChange: () => {
      changes.count += 1;
    },
  });
  t.after(() => looks.close());
  looks.watch(KEY, 'pod');
  return { looks, clock, given, asked, changes };
}

function isOpen(looks: PortLooks, port: number): boolean | undefined {
  const verdicts = looks.verdictsOf(KEY, 'pod');
  return verdicts && isToBeOpen(verdicts, port);
}

async function passing(clock: FakeClock, seconds: number): Promise<void> {
  for (let count = 0; count < seconds; count++) {
    clock.advance(1_000);
    await quiet();
  }
}
