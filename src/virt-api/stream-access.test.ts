import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, type TestContext, test } from 'node:test';
import { ApiError } from '../base/errors.ts';
import { silentLogger } from '../base/log.ts';
import type { Client } from '../client/client.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { FakeApi } from './fake-api.testing.ts';
import { StreamAccess } from './stream-access.ts';

describe('a stream that is open', () => {
  const attributes = {
    resource: 'virtualmachineinstances',
    subresource: 'console',
    namespace: 'default',
    name: 'db',
    verb: 'get',
  } as const;
  const given = (t: TestContext) => {
    const stop = new AbortController();
    t.after(() => stop.abort());
    const api = new FakeApi();
    const clock = new FakeClock();
    const access = new StreamAccess({ client: api.client, clock, log: silentLogger, signal: stop.signal });
    const open = (user: string) => {
      const socket = new PassThrough();
      access.add({ caller: { user, groups: [] }, attributes, socket });
      return socket;
    };
    /** Resolves when everybody was asked about. */
    const look = async () => {
      clock.advance(5_000);
      for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    };
    return { api, open, look, access };
  };

  test('is cut off when its user may no longer have it, and those of others are not', async (t) => {
    const { api, open, look } = given(t);
    const [ann, bob] = [open('ann'), open('bob')];
    await look();
    assert.deepEqual([ann.destroyed, bob.destroyed], [false, false]);
    api.mayDo = ({ user }) => user !== 'ann';
    const closed = once(ann, 'close');
    await look();
    await closed;
    assert.deepEqual([ann.destroyed, bob.destroyed], [true, false]);
  });

  test('is cut off as a disk that is downloaded, too, which says how long it is; a short answer is sent as it is', async (t) => {
    const { api, look, access } = given(t);
    const of = {
      caller: { user: 'ann', groups: [] },
      attributes: { ...attributes, resource: 'virtualmachineexports', subresource: 'volumes' },
    };
    const endless = () => new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(new Uint8Array(16)) });
    const sent = (length: number) => access.whileAllowed(new Response(endless(), { headers: { 'content-length': `${length}` } }), of);
    const [disk, short] = [sent(64 * 2 ** 30).body?.getReader(), sent(1_000).body?.getReader()];
    assert.deepEqual(
      access.open().map(({ count }) => count),
      [1],
    );
    await look();
    assert.equal((await disk?.read())?.done, false);
    api.mayDo = () => false;
    await look();
    await assert.rejects(async () => disk?.read(), /taken away/);
    assert.deepEqual([(await short?.read())?.done, access.open()], [false, []]);
  });

  test('is cut off as soon when there are hundreds, and the API server takes its time', async (t) => {
    const stop = new AbortController();
    t.after(() => stop.abort());
    const clock = new FakeClock();
    const answers: (() => void)[] = [];
    const create = (_: unknown, review: object) =>
      new Promise((resolve) => void answers.push(() => resolve({ ...review, status: { allowed: false } })));
    const client = { create } as unknown as Client; // nothing else is asked of it
    const access = new StreamAccess({ client, clock, log: silentLogger, signal: stop.signal });
    const sockets = Array.from({ length: 320 }, (_, n) => {
      const socket = new PassThrough();
      access.add({ caller: { user: `u${n}`, groups: [] }, attributes, socket });
      return socket;
    });
    clock.advance(5_000);
    for (let round = 0; round < 20; round += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      for (const answer of answers.splice(0)) answer();
    }
    assert.equal(sockets.filter(({ destroyed }) => !destroyed).length, 0);
  });

  test('goes on while nobody can tell', async (t) => {
    const { api, open, look } = given(t);
    const ann = open('ann');
    api.mayDo = () => {
      throw new ApiError('ServiceUnavailable', 'away');
    };
    await look();
    assert.equal(ann.destroyed, false);
  });

  test('costs one question together with others of its user, and none when it is closed', async (t) => {
    const { api, open, look } = given(t);
    let asked = 0;
    api.mayDo = () => ++asked > 0;
    const closed = () => new Promise((resolve) => setImmediate(resolve));
    const sockets = Array.from({ length: 100 }, () => open('ann'));
    await look();
    assert.equal(asked, 1);
    for (const socket of sockets) socket.destroy();
    await closed();
    await look();
    await look();
    assert.equal(asked, 1);
  });
});
