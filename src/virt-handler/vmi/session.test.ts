import assert from 'node:assert/strict';
import { symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, type TestContext, test } from 'node:test';
import { QMP_SOCKET } from '../../api/launcher/files.ts';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import { startQemu, temporaryFolder } from '../../qemu/qmp/qemu.testing.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { until } from '../../testing/until.ts';
import { startGuest, typeInto } from '../guest.testing.ts';
import { noDumps } from '../no-dumps.testing.ts';
import type { Domain } from './domain.ts';
import { DomainSession } from './session.ts';

describe('a session with a real QEMU', () => {
  test('waits for QEMU to come, sees it wait, run and go', async (t) => {
    const folder = await temporaryFolder(t);
    const { session, sees } = watch(t, folder);
    await sees(({ state }) => state === 'absent');
    await startGuest(t, { folder, isPaused: true });
    await sees(({ state, isConnected }) => state === 'prelaunch' && isConnected);
    session.order('cont', { name: 'cont' });
    await sees(({ state }) => state === 'running');
    session.order('quit', { name: 'quit' });
    await sees(({ isGone, isConnected }) => isGone && !isConnected);
  });

  test('a guest that powers off is told at once, and again to the next session', async (t) => {
    const { folder } = await startGuest(t);
    const first = watch(t, folder);
    await first.sees(({ isConnected }) => isConnected);
    await typeInto(t, { folder, key: 'q' });
    await first.sees(({ state, shutdownReason }) => state === 'shutdown' && shutdownReason === 'guest-shutdown');
    first.session.close();
    const second = watch(t, folder);
    await second.sees(({ state, isConnected }) => state === 'shutdown' && isConnected);
    second.session.order('quit', { name: 'quit' });
    await second.sees(({ state, isGone }) => state === 'shutdown' && isGone);
  });

  test('a panic is told', async (t) => {
    const { folder } = await startGuest(t);
    const { sees } = watch(t, folder);
    await typeInto(t, { folder, key: 'p' });
    await sees(({ state }) => state === 'panicked');
  });

  test('a QEMU that is killed is gone', async (t) => {
    const qemu = await startQemu(t);
    const { sees } = watch(t, qemu.folder);
    await sees(({ isConnected }) => isConnected);
    process.kill(qemu.pid, 'SIGKILL');
    await sees(({ isGone }) => isGone);
  });

  test('a socket that a dead QEMU left behind is gone too', async (t) => {
    const qemu = await startQemu(t);
    process.kill(qemu.pid, 'SIGKILL');
    await qemu.exitCode;
    const { sees } = watch(t, qemu.folder);
    await sees(({ isGone }) => isGone);
  });

  test('a QEMU that hangs is unresponsive until it answers again', async (t) => {
    const clock = new FakeClock();
    const qemu = await startQemu(t);
    const { sees } = watch(t, qemu.folder, clock);
    await sees(({ isConnected }) => isConnected);
    process.kill(qemu.pid, 'SIGSTOP');
    await sees(({ state }) => state === 'unresponsive', clock);
    process.kill(qemu.pid, 'SIGCONT');
    await sees(({ state }) => state === 'paused' || state === 'running' || state === 'prelaunch', clock);
  });

  test('a command that QEMU refuses is shown with the reason, and can be given again', async (t) => {
    const { folder } = await startGuest(t);
    const { session, sees } = watch(t, folder);
    await sees(({ isConnected }) => isConnected);
    session.order('keys', { name: 'send-key', keys: ['no-such-key'] });
    await sees(({ commands: { keys } }) => keys?.is === 'failed' && keys.reason.includes('no-such-key'));
    session.order('keys', { name: 'send-key', keys: ['a'] });
    await sees(({ commands: { keys } }) => keys?.is === 'done' && keys.tries === 2);
  });

  test('what a person asks for is a command like any other', async (t) => {
    const { folder } = await startGuest(t);
    const { session, sees } = watch(t, folder);
    await sees(({ isConnected }) => isConnected);
    await session.act('pause');
    await sees(({ state, commands: { pause } }) => state === 'paused' && pause?.is === 'done');
    await session.act('unpause');
    await sees(({ state }) => state === 'running');
  });

  test('a command for a QEMU that is not there fails', async (t) => {
    const { session } = watch(t, await temporaryFolder(t));
    await assert.rejects(session.act('pause'), /QEMU is not connected/);
    assert.equal(session.domain.commands['pause']?.is, 'failed');
  });

  test('a symlink in place of the socket is never followed', async (t) => {
    const qemu = await startQemu(t);
    const folder = await temporaryFolder(t);
    await symlink(qemu.qmpPath, join(folder, QMP_SOCKET));
    const { sees } = watch(t, folder);
    await sees(({ state, isConnected }) => state === 'unresponsive' && !isConnected);
  });
});

test('a storm of events is one more look at the guest, and no change', async (t) => {
  const folder = await temporaryFolder(t);
  const storm = `${JSON.stringify({ event: 'WATCHDOG', data: { action: 'reset' } })}\n`.repeat(50_000);
  let looks = 0;
  await serveQmp(t, join(folder, QMP_SOCKET), (command) => {
    if (command !== 'query-status') return { before: '', answer: command === 'query-chardev' || command === 'query-rx-filter' ? [] : {} };
    looks += 1;
    return { before: looks === 1 ? storm : '', answer: { status: 'running', running: true } };
  });
  let changes = 0;
  const session = new DomainSession({
    openWay: noWay,
    openStore: noWay,
    dumps: noDumps,
    folder,
    clock: new FakeClock(),
    log: silentLogger,
    onChange: () => changes++,
  });
  t.after(() => session.close());
  await until(() => looks === 2);
  await session.execute('query-version', {});
  assert.deepEqual([session.domain.state, looks, changes < 5], ['running', 2, true]);
});

/** No guest is sent away here. */
async function noWay(): Promise<never> {
  throw new Error('there is no way');
}

/** A QEMU that answers as told, after saying something else first. */
async function serveQmp(t: TestContext, path: string, answerTo: (command: string) => { before: string; answer: unknown }): Promise<void> {
  const server = createServer((socket) => {
    t.after(() => socket.destroy());
    socket.on('error', () => {});
    socket.write('{"QMP":{"version":{},"capabilities":[]}}\n');
    createInterface({ input: socket }).on('line', (line) => {
      const { execute, id } = JSON.parse(line) as { execute: string; id: number };
      const { before, answer } = answerTo(execute);
      socket.write(`${before}${JSON.stringify({ return: answer, id })}\n`);
    });
  });
  t.after(() => server.close());
  await new Promise<void>((resolve) => server.listen(path, resolve));
}

function watch(t: TestContext, folder: string, clock: FakeClock | typeof systemClock = systemClock) {
  const session = new DomainSession({
    openWay: noWay,
    openStore: noWay,
    dumps: noDumps,
    folder,
    clock,
    log: silentLogger,
    onChange: () => {},
  });
  t.after(() => session.close());
  /** Time that nobody waits for passes by itself: with a fake clock, a second per look. */
  const sees = (holds: (domain: Domain) => boolean, moving?: FakeClock) =>
    until(() => {
      moving?.advance(1000);
      return holds(session.domain);
    });
  return { session, sees };
}
