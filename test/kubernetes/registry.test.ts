/** Pulls and pushes against Debian's docker-registry, which has been written by others; no cluster is started. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createImagePuller } from '../../src/images/image-puller.ts';
import { readIndex, readManifest } from '../../src/images/layout.ts';
import { pushImage } from '../../src/images/push.ts';
import { findLogin } from '../../src/images/registry-login.ts';
import { openImageStore } from '../../src/images/store.ts';
import { writeImage } from '../../src/images/write-image.ts';
import { until } from '../../src/testing/until.ts';
import { ensurePackages } from '../../tools/kubernetes/packages.ts';

const ACCOUNT = 'me:secret';
/** The same, by bcrypt: the one kind of hash that it takes. */
const PASSWORD_LINE = 'me:$2b$05$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a';
const DISK_BYTES = 8 * 2 ** 20;

async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo; // it listens on a port
  server.close();
  await once(server, 'close');
  return port;
}

/** A registry with a disk in it as team/disk:1, and a data folder. */
async function world(t: TestContext, hasPassword: boolean) {
  const dir = mkdtempSync(join(tmpdir(), 'registry-'));
  const host = `127.0.0.1:${await freePort()}`;
  const passwords = join(dir, 'htpasswd');
  if (hasPassword) writeFileSync(passwords, `${PASSWORD_LINE}\n`);
  const config = {
    version: '0.1',
    log: { level: 'error', accesslog: { disabled: true } },
    storage: { filesystem: { rootdirectory: join(dir, 'registry') } },
    http: { addr: host },
    ...(hasPassword && { auth: { htpasswd: { realm: 'here', path: passwords } } }),
  };
  writeFileSync(join(dir, 'registry.json'), JSON.stringify(config));
  const child = spawn(join(ensurePackages(), 'usr/bin/docker-registry'), ['serve', join(dir, 'registry.json')], { stdio: 'ignore' });
  t.after(async () => {
    child.kill();
    await once(child, 'exit');
    rmSync(dir, { recursive: true });
  });
  const registry = `http://${host}`;
  await until(
    () =>
      fetch(`${registry}/v2/`).then(
        ({ status }) => status < 500,
        () => false,
      ),
    'the registry to answer',
  );
  const auths = { [host]: { auth: Buffer.from(ACCOUNT).toString('base64') } };
  writeFileSync(join(dir, 'config.json'), JSON.stringify({ auths }));
  const env = { DOCKER_CONFIG: dir };
  const made = join(dir, 'made');
  writeFileSync(join(dir, 'disk'), Buffer.alloc(DISK_BYTES, 'disk'));
  await writeImage({
    dir: made,
    reference: 'localhost/x',
    files: [{ path: join(dir, 'disk'), name: 'disk/disk.img' }],
    compression: 'none',
  });
  const [descriptor] = readIndex(made);
  await pushImage({ dir: made, descriptor: descriptor!, registry, repository: 'team/disk', tag: '1', login: findLogin(registry, env) }); // as made
  const images = join(dir, 'home', 'images');
  const puller = (own: Record<string, string> = env) => createImagePuller({ dir: images, env: own, hasHostLoopback: true });
  return { host, dir, made, images, descriptor: descriptor!, puller };
}

for (const hasPassword of [false, true]) {
  test(`an image goes to a registry ${hasPassword ? 'with' : 'without'} a password and comes back the same, by tag and by digest`, async (t) => {
    const { host, dir, images, descriptor, puller } = await world(t, hasPassword);
    for (const reference of [`${host}/team/disk:1`, `${host}/team/disk@${descriptor.digest}`]) {
      assert.equal((await puller().pull({ reference })).digest, descriptor.digest);
      const folder = await openImageStore(images).unpacked(reference);
      assert.deepEqual(readFileSync(join(folder, 'disk/disk.img')), readFileSync(join(dir, 'disk')));
    }
    const without = puller({ REGISTRY_AUTH_FILE: join(dir, 'none.json') }).resolve({ reference: `${host}/team/disk:1` });
    if (hasPassword) await assert.rejects(without, { code: 'REGISTRY_FORBIDS' });
    else assert.equal(await without, descriptor.digest);
  });
}

test('a download goes on where it was', async (t) => {
  const { host, made, images, descriptor, puller } = await world(t, false);
  const [layer] = (await readManifest(made, descriptor)).layers;
  const hex = layer?.digest.slice('sha256:'.length) ?? '';
  openImageStore(images);
  const half = readFileSync(join(made, 'blobs/sha256', hex)).subarray(0, DISK_BYTES / 2);
  writeFileSync(join(images, 'blobs', `.partial-${hex}`), half);
  const seen: number[] = [];
  await puller().pull({ reference: `${host}/team/disk:1`, onProgress: ({ doneBytes }) => seen.push(doneBytes) });
  const sizeOfTheRest = 10_000; // of what else there is to an image
  assert.deepEqual(
    seen.filter((bytes) => bytes > sizeOfTheRest && bytes < half.length),
    [],
  );
});
