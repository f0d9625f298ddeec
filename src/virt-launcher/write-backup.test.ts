import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { ATTACH_SOCKET } from '../api/launcher/attachment.ts';
import { BACKUP_SOCKET } from '../api/launcher/backup.ts';
import { temporaryFolder } from '../qemu/qmp/qemu.testing.ts';
import { takeBackup } from './write-backup.ts';

const HEAD = { folder: 'db/one', bytes: 100, disks: [{ volume: 'root', bytes: 2 ** 20 }] };

/** In the place of qemu-storage-daemon: greets, and ends as it does, with these last words. */
function daemonThatSays(folder: string, lastWords: string): string {
  const path = join(folder, 'daemon');
  const serve = `require('node:net').createServer((socket) => socket.end('NBDMAGIC')).listen('${ATTACH_SOCKET}')`;
  const end = `process.once('SIGTERM', () => { process.stderr.write(${JSON.stringify(lastWords)}, () => process.exit(0)); })`;
  writeFileSync(path, `#!${process.execPath}\n${end};\n${serve};\n`);
  chmodSync(path, 0o755);
  return path;
}

async function world(t: TestContext, lastWords = '') {
  const [root, folder] = [await temporaryFolder(t), await temporaryFolder(t)];
  const place = { root, folder, program: daemonThatSays(folder, lastWords), report: () => {} };
  const server = createServer({ allowHalfOpen: true }, (socket) => void takeBackup(socket, place)).listen(join(folder, BACKUP_SOCKET));
  await once(server, 'listening');
  t.after(() => server.close());
  const socket = connect(join(folder, BACKUP_SOCKET));
  t.after(() => socket.destroy());
  const answers = createInterface({ input: socket })[Symbol.asyncIterator]();
  const say = async (line: string): Promise<Record<string, unknown>> => {
    socket.write(`${line}\n`);
    return JSON.parse((await answers.next()).value ?? '{}');
  };
  return { root, say };
}

test('one that is whole has its name', async (t) => {
  const { root, say } = await world(t);
  assert.deepEqual(await say(JSON.stringify(HEAD)), { ready: true });
  assert.equal(typeof (await say('whole'))['written'], 'number');
  assert.ok(existsSync(join(root, 'db/one/root.qcow2')));
});

test('one whose files could not be closed is none, though what serves them ends with 0', async (t) => {
  const { root, say } = await world(t, 'Failed to flush the L2 block cache: No space left on device\n');
  await say(JSON.stringify(HEAD));
  const why = 'the files could not be closed: Failed to flush the L2 block cache: No space left on device';
  assert.deepEqual(await say('whole'), { error: why });
  assert.deepEqual(readdirSync(root), []);
});

test('who waits is told why it failed also where what was written cannot be removed', async (t) => {
  const { root, say } = await world(t);
  await say(JSON.stringify(HEAD));
  const parts = join(root, '.db.backup.part');
  renameSync(parts, join(root, 'elsewhere'));
  symlinkSync(parts, parts); // nobody comes to an end of it
  const { error } = await say('never mind');
  assert.match(String(error), /^nobody wants it any more; what was written cannot be removed: .*symbolic links/);
});
