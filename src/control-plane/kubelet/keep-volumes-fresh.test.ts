import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, readlink, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Pod } from '../../api/core/pod.ts';
import { silentLogger } from '../../base/log.ts';
import { createClient } from '../../client/client.ts';
import { keepVolumesFresh } from './keep-volumes-fresh.ts';
import type { KubeletContext } from './kubelet-context.ts';

test('a changed Secret reaches a Pod that runs; one that has not changed, or is gone, touches nothing', async (t) => {
  const rootDir = await mkdtemp(join(tmpdir(), 'kubevirt-ts-'));
  t.after(() => rm(rootDir, { recursive: true, force: true }));
  const pod = {
    metadata: { name: 'p', namespace: 'default', uid: 'u' },
    spec: { containers: [], volumes: [{ name: 'v', secret: { secretName: 's' } }] },
    status: { phase: 'Running' },
  } as unknown as Pod; // all that is looked at
  let data: Record<string, string> | undefined;
  const fetch = async () => (data ? Response.json({ metadata: { name: 's' }, data }) : new Response('{}', { status: 404 }));
  const client = createClient({ fetch, baseUrl: 'https://fake', userAgent: 'test' });
  const look = async () => {
    const stop = new AbortController();
    let sleeps = 0;
    const sleep = async () => {
      if (++sleeps > 1) stop.abort();
    };
    const context = { clock: { now: () => 0, sleep }, signal: stop.signal, log: silentLogger, rootDir, client, mayBecome: () => false };
    await keepVolumesFresh({ context: context as unknown as KubeletContext, pods: { list: () => [pod] } });
  };
  const folder = join(rootDir, 'pods/u/volumes/kubernetes.io~secret/v');
  const base64 = (text: string) => Buffer.from(text).toString('base64');

  data = { a: base64('1'), b: base64('2') };
  await look();
  assert.deepEqual(await namesIn(folder), ['a', 'b']);
  const { ino } = await stat(folder);
  const written = await readlink(join(folder, '..data'));
  await look();
  assert.equal(await readlink(join(folder, '..data')), written);
  data = { a: base64('3') };
  await look();
  assert.deepEqual([await namesIn(folder), await readFile(join(folder, 'a'), 'utf8')], [['a'], '3']);
  assert.equal((await stat(folder)).ino, ino, 'the folder is the same: a container may have it mounted');
  data = undefined;
  await look();
  assert.equal(await readFile(join(folder, 'a'), 'utf8'), '3');
});

/** As a container sees them; what begins with two dots is the kubelet's. */
async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => !name.startsWith('..'));
}
