import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { rename, symlink } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { connectQmp, QmpError, type QmpEvent, QmpTimeout } from './client.ts';
import { startQemu, temporaryFolder } from './qemu.testing.ts';

/** A QEMU that has just been started on a busy machine greets seconds before it answers. */
const PATIENCE_MS = 30_000;
const GREETING = '{"QMP": {"version": {}, "capabilities": []}}\n';

describe('connectQmp with a real QEMU', () => {
  test('asks, is refused by name, and sees events', async (t) => {
    const qemu = await startQemu(t, { machine: 'q35', isPaused: true });
    const seen: QmpEvent[] = [];
    const { promise: resumed, resolve } = Promise.withResolvers<void>();
    const qmp = await connectQmp({
      path: qemu.qmpPath,
      timeoutMs: PATIENCE_MS,
      onEvent: (event) => {
        seen.push(event);
        if (event.event === 'RESUME') resolve();
      },
    });
    assert.deepEqual(await qmp.execute('query-status'), { status: 'prelaunch', singlestep: false, running: false });
    await assert.rejects(
      qmp.execute('no-such-command'),
      (error) => error instanceof QmpError && error.errorClass === 'CommandNotFound' && /no-such-command/.test(error.message),
    );
    await qmp.execute('cont');
    await resumed;
    assert.deepEqual(
      seen.map(({ event }) => event),
      ['RESUME'],
    );
    await qmp.execute('quit');
    await qmp.closed;
    await assert.rejects(qmp.execute('query-status'), /Cannot execute query-status/);
    assert.equal(await qemu.exitCode, 0);
  });

  test('answers reach the command that asked, whatever the order of asking', async (t) => {
    const qemu = await startQemu(t);
    const qmp = await connectQmp({ path: qemu.qmpPath, timeoutMs: PATIENCE_MS });
    t.after(() => qmp.close());
    const answers = await Promise.all([qmp.execute('query-kvm'), qmp.execute('query-version'), qmp.execute('query-uuid')]);
    assert.deepEqual(
      answers.map((answer) => Object.keys(answer as object)[0]),
      ['enabled', 'qemu', 'UUID'],
    );
  });

  test('a path longer than a socket address is no problem', async (t) => {
    const qemu = await startQemu(t);
    const deep = join(qemu.folder, 'd'.repeat(120));
    mkdirSync(deep);
    await rename(qemu.qmpPath, join(deep, 'qmp.sock'));
    const qmp = await connectQmp({ path: join(deep, 'qmp.sock'), timeoutMs: PATIENCE_MS });
    assert.ok(await qmp.execute('query-version'));
    qmp.close();
  });

  test('a stopped QEMU costs a time-out', async (t) => {
    const qemu = await startQemu(t);
    const qmp = await connectQmp({ path: qemu.qmpPath, timeoutMs: PATIENCE_MS });
    t.after(() => qmp.close());
    process.kill(qemu.pid, 'SIGSTOP');
    await assert.rejects(qmp.execute('query-status', undefined, { timeoutMs: 50 }), QmpTimeout);
    process.kill(qemu.pid, 'SIGCONT');
    assert.ok(await qmp.execute('query-status'));
  });
});

describe('connectQmp with a peer that means harm', () => {
  test('a symlink in the place of the socket is refused', async (t) => {
    const folder = await temporaryFolder(t);
    await listen(t, join(folder, 'host.sock'), () => assert.fail('was connected to'));
    await symlink(join(folder, 'host.sock'), join(folder, 'qmp.sock'));
    await assert.rejects(connectQmp({ path: join(folder, 'qmp.sock') }), { code: 'ENOTSOCK', message: /it is a symbolic link/ });
  });

  test('no socket, and a socket that nobody serves, are told apart', async (t) => {
    const folder = await temporaryFolder(t);
    await assert.rejects(connectQmp({ path: join(folder, 'qmp.sock') }), { code: 'ENOENT' });
    const qemu = await startQemu(t);
    process.kill(qemu.pid, 'SIGKILL');
    await qemu.exitCode;
    await assert.rejects(connectQmp({ path: qemu.qmpPath }), { code: 'ECONNREFUSED' });
  });

  test('silence instead of a greeting ends in a time-out', async (t) => {
    const path = join(await temporaryFolder(t), 'qmp.sock');
    await listen(t, path, () => {});
    await assert.rejects(connectQmp({ path, timeoutMs: 30 }), QmpTimeout);
  });

  test('a line without end ends the session', async (t) => {
    const path = join(await temporaryFolder(t), 'qmp.sock');
    await listen(t, path, (socket) => socket.write(GREETING + 'x'.repeat(2 * 1024 * 1024)));
    await assert.rejects(connectQmp({ path }), /a line of more than/);
  });

  test('what is not JSON ends the session', async (t) => {
    const path = join(await temporaryFolder(t), 'qmp.sock');
    await listen(t, path, (socket) => socket.write(`${GREETING}${'['.repeat(500_000)}\n`));
    await assert.rejects(connectQmp({ path }), /not JSON/);
  });

  test('an abort ends a session that is being set up', async (t) => {
    const path = join(await temporaryFolder(t), 'qmp.sock');
    await listen(t, path, () => {});
    const abort = new AbortController();
    const connecting = connectQmp({ path, signal: abort.signal });
    abort.abort();
    await assert.rejects(connecting);
  });
});

async function listen(t: TestContext, path: string, serve: (socket: Socket) => void): Promise<void> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}).resume());
    serve(socket);
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
}
