/** Two virt-handlers, as far as a move needs them, with a real QEMU each. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { WebSocket } from 'ws';
import { readMoved } from '../../api/handler/moved.ts';
import { buildRoutePath } from '../../api/handler/route-path.ts';
import { HANDLER_ROUTES } from '../../api/handler/routes.ts';
import { CONTENTS_FILE, SERIAL_LOG } from '../../api/launcher/files.ts';
import { MACHINE_FILE } from '../../api/launcher/suspension.ts';
import { systemClock } from '../../base/clock.ts';
import { isObject } from '../../base/json.ts';
import { silentLogger } from '../../base/log.ts';
import { ensurePki, type Pki, VIRT_HANDLER_CLIENT_NAME, VIRT_HANDLER_SERVER_NAME } from '../../base/node/pki.ts';
import { vmi as build } from '../../testing/builders.ts';
import { until } from '../../testing/until.ts';
import { publicFolder, startGuest } from '../guest.testing.ts';
import { onlyAnswers } from '../server/answers.testing.ts';
import { startHandlerServer } from '../server/server.ts';
import type { DomainCommand } from '../vmi/domain-command.ts';
import { Domains } from '../vmi/domains.ts';
import { takeGuest, takePrinted } from './take-guest.ts';

const KEY = 'default/db';
const UID = 'move-1';
const VMI = build('Running', { migrationState: { migrationUid: UID } });
const LIMITS = { memoryBytes: 2 ** 24, msPerGiB: 600_000, progressMs: 30_000, downtimeMs: 300, isSlowedDown: false, mayStandStill: false };
/** A disk of 4 MiB that the nodes do not share. */
const DISK = ['-blockdev', 'node-name=data,driver=file,filename=data.img', '-device', 'virtio-blk-pci,drive=data'];
/** With a device that the other machine does not have. */
const ANOTHER = [...DISK, '-device', 'virtio-rng-pci'];
/** The same, on a file system that is full. */
const FULL = [
  '-blockdev',
  'node-name=file,driver=file,filename=data.img',
  '-blockdev',
  'node-name=data,driver=blkdebug,image=file,inject-error.0.event=none,inject-error.0.iotype=write,inject-error.0.errno=28',
  '-device',
  'virtio-blk-pci,drive=data',
];

const PAGE_BYTES = 4096;
/** What the guest writes to. */
const WRITTEN = { val: 0x10000, size: 0x80000 };
/** So slow that it writes meanwhile. */
const BYTES_PER_SECOND = 2 ** 22;
/** So slow that it is called back meanwhile. */
const SLOW_BYTES_PER_SECOND = 2 ** 17;

describe('a guest that is sent to another node', () => {
  let home = '';
  let pki: Pki;
  let strangers: Pki;
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'kubevirt-ts-'));
    pki = await ensurePki(join(home, 'pki'), systemClock);
    strangers = await ensurePki(join(home, 'strangers'), systemClock);
  });
  after(() => rm(home, { recursive: true, force: true }));

  test('goes on there, with its console: nothing that was typed or printed is lost', async (t) => {
    const [source, target] = await nodes(t);
    const viewer = source.look('?shared=true');
    const plain = source.look('?write=false');
    await until(() => viewer.told().includes('writing'));
    viewer.socket.send(Buffer.from('abc'));
    await until(() => viewer.text().endsWith('!abc'));
    await target.does('receive', { name: 'receive', disks: ['data'] });
    await source.does('send', sendTo(target.port));
    assert.equal(source.state(), 'moved');
    viewer.socket.send(Buffer.from('typed while it stood still'));
    await target.does('arrive', { name: 'arrive', runs: true });
    const [ended, cut] = [once(viewer.socket, 'close'), once(plain.socket, 'close')];
    source.domains.act({ do: 'command', id: 'quit', command: { name: 'quit' }, because: 'it has left' }, VMI);
    const [code, reason] = await ended;
    assert.deepEqual(readMoved(code, String(reason)), { taken: 3, printed: viewer.text().length });
    assert.equal((await cut)[0], 1006);
    const back = target.look(`?shared=true&from=${viewer.text().length}`);
    await back.opened;
    back.socket.send(Buffer.from('d'));
    await until(() => back.text() === 'd');
    const other = target.look('?shared=true&write=false');
    await until(() => /!abcd$/.test(other.text()));
    assert.match(await readFile(join(target.folder, SERIAL_LOG), 'latin1'), /!abcd$/);
  });

  test('has the memory there that it had here, though it runs and writes while that is sent', async (t) => {
    const [source, target] = await nodes(t);
    const viewer = source.look('?shared=true');
    await viewer.opened;
    viewer.socket.send(Buffer.from('w'));
    await until(async () => new Set(await source.written()).size > 1);
    await target.does('receive', { name: 'receive', disks: ['data'] });
    const sending = source.does('send', sendTo(target.port, BYTES_PER_SECOND));
    await until(() => source.runsWhileSent());
    await sending;
    assert.deepEqual(await target.written(), await source.written());
  });

  test('stays when the other side is not of this installation', async (t) => {
    const [source, target] = await nodes(t, { identity: () => ({ ...strangers.migrationClient, ca: strangers.kubevirtCa }) });
    await target.does('receive', { name: 'receive', disks: ['data'] });
    await assert.rejects(source.does('send', sendTo(target.port)));
    await source.runs();
    assert.equal(target.state(), 'incoming');
  });

  test('stays when the other machine is another one', async (t) => {
    const [source, target] = await nodes(t, { sourceArgs: ANOTHER });
    await target.does('receive', { name: 'receive', disks: ['data'] });
    await assert.rejects(source.does('send', sendTo(target.port)), /the copy of its memory is failed/);
    await until(() => ['running', 'moved'].includes(source.state() ?? ''));
    // So little memory may have been sent before the guest ran again: then it is had back as one that was paused.
    if (source.state() === 'moved') await source.does('bring back', { name: 'call-back', disks: ['data'], runs: true, isKept: true });
    await source.runs();
    assert.notEqual(target.state(), 'running');
  });

  for (const [what, disks, isThere] of [
    ['disks are', ['data'], async (source: Node) => (await source.jobs()).length > 0],
    ['memory is', [], (source: Node) => source.runsWhileSent()],
  ] as const)
    test(`stays when it is called back while its ${what} copied`, async (t) => {
      const [source, target] = await nodes(t);
      await target.does('receive', { name: 'receive', disks: [...disks] });
      const sending = assert.rejects(source.does('send', { ...sendTo(target.port, SLOW_BYTES_PER_SECOND), disks: [...disks] }));
      await until(() => isThere(source));
      await source.does('call back', { name: 'call-back', disks: [...disks], runs: true, isKept: false });
      await sending;
      await source.runs();
      assert.notEqual(target.state(), 'running');
    });

  test('can be had back, too, when it was paused', async (t) => {
    const [source, target] = await nodes(t, { sourceArgs: ANOTHER });
    await target.does('receive', { name: 'receive', disks: ['data'] });
    await source.does('stop', { name: 'stop' });
    await assert.rejects(source.does('send', { ...sendTo(target.port), runs: false }), /the copy of its memory is failed/);
    await until(() => source.state() === 'moved');
    const callBack = { name: 'call-back', disks: ['data'], runs: true } as const;
    await source.does('call back', { ...callBack, isKept: false });
    assert.equal(source.state(), 'moved'); // it was sent: it stands still until the move was said to have failed
    await source.does('bring back', { ...callBack, isKept: true });
    await source.runs();
    assert.notEqual(target.state(), 'running');
  });

  test('stands still until it may run, when it is reset after it was sent', async (t) => {
    const [source, target] = await nodes(t);
    await target.does('receive', { name: 'receive', disks: ['data'] });
    await source.does('send', sendTo(target.port));
    await source.does('reset', { name: 'system_reset' });
    await until(() => source.state() === 'prelaunch');
    const callBack = { name: 'call-back', disks: ['data'], runs: true } as const;
    await source.does('call back', { ...callBack, isKept: false });
    assert.equal(source.state(), 'prelaunch');
    process.kill(target.pid, 'SIGKILL');
    await source.does('bring back', { ...callBack, isKept: true });
    await until(() => source.state() === 'running');
  });

  test('stays, before anything is copied, when a disk would have another content there', async (t) => {
    const [source, target] = await nodes(t);
    await target.does('receive', { name: 'receive', disks: ['data'] });
    await writeFile(join(source.folder, CONTENTS_FILE), '{"seed":"1"}');
    await writeFile(join(target.folder, CONTENTS_FILE), '{"seed":"2"}');
    await assert.rejects(source.does('send', sendTo(target.port)), /disk seed would have another content there/);
    await source.runs();
  });

  test('stays, before anything is copied, when it would have another processor there', async (t) => {
    const [source, target] = await nodes(t);
    await target.does('receive', { name: 'receive', disks: ['data'] });
    await writeFile(join(source.folder, MACHINE_FILE), 'digest of a machine with -cpu Nehalem');
    await writeFile(join(target.folder, MACHINE_FILE), 'digest of a machine with -cpu Penryn');
    await assert.rejects(source.does('send', sendTo(target.port)), /another machine there, with other devices or another processor/);
    await source.runs();
    assert.equal(target.state(), 'incoming');
  });

  test('stays when there is no room for its disks', async (t) => {
    const [source, target] = await nodes(t, { targetArgs: FULL });
    await target.does('receive', { name: 'receive', disks: ['data'] });
    await assert.rejects(source.does('send', sendTo(target.port)), /disk data|No space left/);
    await source.runs();
  });

  test('stays when the QEMU ends that was to take it', async (t) => {
    const [source, target] = await nodes(t);
    await target.does('receive', { name: 'receive', disks: ['data'] });
    process.kill(target.pid, 'SIGKILL');
    await assert.rejects(source.does('send', sendTo(target.port)));
    await source.runs();
  });

  type Node = Awaited<ReturnType<typeof node>>;
  type NodeOptions = {
    readonly identity?: () => { cert: string; key: string; ca: string };
    readonly sourceArgs?: readonly string[];
    readonly targetArgs?: readonly string[];
  };

  /** The one that it leaves, and the one that waits for it. */
  async function nodes(t: TestContext, { identity, sourceArgs = DISK, targetArgs = DISK }: NodeOptions = {}) {
    const ours = () => ({ ...pki.migrationClient, ca: pki.kubevirtCa });
    return Promise.all([
      node(t, { identity: identity ?? ours, args: sourceArgs }),
      node(t, { identity: ours, args: targetArgs, isIncoming: true }),
    ]);
  }

  type OneNode = {
    readonly identity: () => { cert: string; key: string; ca: string };
    readonly args: readonly string[];
    readonly isIncoming?: boolean;
  };

  async function node(t: TestContext, { identity, args, isIncoming = false }: OneNode) {
    const kubeletRoot = await mkdtemp(join(home, 'node-'));
    const folder = publicFolder(kubeletRoot, 'pod-1');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'data.img'), Buffer.alloc(4 * 1024 * 1024, isIncoming ? 0 : 1));
    const { pid } = await startGuest(t, { folder, isIncoming, isPaused: isIncoming, args });
    const domains = new Domains({ kubeletRoot, clock: systemClock, log: silentLogger, identity, takesConnection: async () => undefined });
    t.after(() => domains.close());
    domains.act({ do: 'follow', podUid: 'pod-1', because: 'it is here' }, VMI);
    const { session, console } = domains.guest(KEY);
    await until(() => session.domain.isConnected);
    const server = await startHandlerServer({
      certs: { ...pki.virtHandler, ca: pki.kubevirtCa },
      allowedClients: [VIRT_HANDLER_CLIENT_NAME],
      host: '127.0.0.1',
      port: 0,
      clock: systemClock,
      log: silentLogger,
      answers: onlyAnswers({
        console: ({ question }) => console.connect(question),
        migration: ({ parameters: { uid }, question }) => takeGuest(domains.guest(KEY), { uid, ...question }),
        'migration/printed': ({ parameters: { uid } }) => takePrinted(domains.guest(KEY), uid),
      }),
    });
    t.after(() => server.close());
    const state = () => session.domain.state;
    /** Resolves when it is done; throws when it has failed. */
    const does = async (id: string, command: DomainCommand) => {
      domains.act({ do: 'command', id, command, because: 'the test says so' }, VMI);
      await until(() => ['done', 'failed'].includes(session.domain.commands[id]?.is ?? ''), id);
      const ended = session.domain.commands[id];
      if (ended?.is === 'failed') throw new Error(ended.reason);
      if (id === 'send') await until(() => state() === 'moved');
    };
    const look = (query: string) => viewer(server.port, query);
    /** The guest answers, and nothing of a move is left in its QEMU. */
    const runs = async () => {
      await until(() => state() === 'running');
      assert.deepEqual(await session.execute('query-jobs', {}), []);
      const { socket, text } = look('?shared=true');
      await once(socket, 'open');
      socket.send(Buffer.from('z'));
      await until(() => text().endsWith('!z'));
    };
    const jobs = async () => [await session.execute('query-jobs', {})].flat();
    /** What a guest that writes all the time has counted in each page. */
    const written = async () => {
      await session.execute('pmemsave', { ...WRITTEN, filename: 'written' });
      const bytes = await readFile(join(folder, 'written'));
      return Array.from({ length: bytes.length / PAGE_BYTES }, (_, page) => bytes.readUInt16LE(page * PAGE_BYTES));
    };
    const runsWhileSent = async () => {
      const [copy, guest] = [await session.execute('query-migrate', {}), await session.execute('query-status', {})];
      return isObject(copy) && copy['status'] === 'active' && isObject(guest) && guest['running'] === true;
    };
    return { domains, folder, pid, port: server.port, state, does, look, runs, written, jobs, runsWhileSent };
  }

  function viewer(port: number, query: string) {
    const path = buildRoutePath(HANDLER_ROUTES.console.path, { namespace: 'default', name: 'db' });
    const identity = { ...pki.virtHandlerClient, ca: pki.kubevirtCa, servername: VIRT_HANDLER_SERVER_NAME };
    const socket = new WebSocket(`wss://127.0.0.1:${port}${path}${query}`, identity);
    const [pieces, words]: [Buffer[], string[]] = [[], []];
    socket.on('error', () => {});
    socket.on('message', (data: Buffer, isBinary: boolean) => (isBinary ? pieces.push(data) : words.push(String(data))));
    return { socket, text: () => Buffer.concat(pieces).toString('latin1'), told: () => words, opened: once(socket, 'open') };
  }
});

function sendTo(port: number, bytesPerSecond?: number): Extract<DomainCommand, { name: 'send' }> {
  const to = { host: '127.0.0.1', port, migrationUid: UID };
  return { name: 'send', disks: ['data'], to, runs: true, limits: { ...LIMITS, bytesPerSecond } };
}
