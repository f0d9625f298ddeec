import assert from 'node:assert/strict';
import { Duplex, PassThrough } from 'node:stream';
import { test } from 'node:test';
import { ApiError } from '../../base/errors.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { probeSsh } from './probe-ssh.ts';

function probe(openStream: (path: string) => Promise<Duplex>, clock = new FakeClock()) {
  return probeSsh({ connection: { openStream }, namespace: 'test', name: 'db', port: 22, clock });
}
const guest =
  (...said: string[]) =>
  async () => {
    const readable = new PassThrough();
    for (const each of said) readable.write(each);
    return Duplex.from({ readable: readable.end(), writable: new PassThrough() });
  };

test('a server that greets as ssh does is one, also in pieces, and its connection is closed', async () => {
  const paths: string[] = [];
  let stream: Duplex | undefined;
  const open = async (path: string) => {
    paths.push(path);
    stream = await guest('SS', 'H-2.0-dropbear\r\n')();
    return stream;
  };
  assert.deepEqual(await probe(open), { is: 'open' });
  assert.deepEqual(paths, ['/apis/subresources.kubevirt.io/v1/namespaces/test/virtualmachineinstances/db/portforward/22/tcp']);
  assert.equal(stream?.destroyed, true);
});

test('what is no ssh server yet is said', async () => {
  const fails = (error: Error) => () => Promise.reject(error);
  const refused = new ApiError('InternalError', 'Cannot connect to port 22 of the guest test/db: the guest refused the connection');
  assert.deepEqual(await probe(fails(refused)), { is: 'closed', why: 'nothing listens at its port 22' });
  const mute = new ApiError('InternalError', 'Cannot connect to port 22 of the guest test/db: the guest does not answer');
  assert.deepEqual(await probe(fails(mute)), { is: 'closed', why: 'its port 22 does not answer' });
  assert.deepEqual(await probe(fails(new ApiError('Conflict', 'VMI is paused'))), { is: 'closed', why: 'VMI is paused' });
  assert.deepEqual(await probe(fails(new ApiError('Forbidden', 'not you'))), { is: 'out', why: 'not you' });
  assert.deepEqual(await probe(guest('HTTP/1.1')), { is: 'closed', why: 'what answers at its port 22 is no ssh server' });
  assert.deepEqual(await probe(guest()), { is: 'closed', why: 'its port 22 does not answer' });
});

test('a server that says nothing is not waited for without end', async () => {
  const clock = new FakeClock();
  const asked = probe(async () => Duplex.from({ readable: new PassThrough(), writable: new PassThrough() }), clock);
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(5_000);
  assert.deepEqual(await asked, { is: 'closed', why: 'its port 22 does not answer' });
});
