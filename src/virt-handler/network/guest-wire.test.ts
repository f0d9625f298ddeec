/** A real QEMU with its user network; the guest at the other end of it is this test, which speaks in frames. */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../base/clock.ts';
import { connectQmp } from '../../qemu/qmp/client.ts';
import { connectUnixSocket } from '../../qemu/qmp/connect-socket.ts';
import { startQemu, waitUntil } from '../../qemu/qmp/qemu.testing.ts';
import { GuestWire } from './guest-wire.ts';

const card = { mac: '02:00:00:00:00:07', gateway: '10.0.2.1', guest: '10.0.2.2' };
const never = new AbortController().signal;

test('a guest is asked at which ports it takes connections, and what it took is reset before any program sees it', async (t) => {
  const { ask, guest } = await started(t);
  assert.deepEqual(await ask([22, 80, 443]), { isThere: false, takes: new Set(), refuses: new Set() }, 'one that boots');
  guest.listens.add(22).add(80);
  guest.isAwake = true;
  const heard = { isThere: true, mac: card.mac, takes: new Set([22, 80]), refuses: new Set([443]) };
  assert.deepEqual(await ask([22, 80, 443]), heard);
  await waitUntil(() => guest.resets.has(22) && guest.resets.has(80), 'the user network resets both');
  guest.drops.add(22);
  guest.listens.delete(80);
  assert.deepEqual(await ask([22, 80]), { isThere: true, mac: card.mac, takes: new Set(), refuses: new Set([80]) }, 'behind a firewall');
});

test('a guest that answers from another hardware address is asked there', async (t) => {
  const { ask, guest } = await started(t);
  guest.isAwake = true;
  guest.mac = '02:00:00:00:00:99';
  guest.listens.add(80);
  assert.deepEqual((await ask([80])).takes, new Set(), 'the first question goes to the card');
  assert.deepEqual((await ask([80])).takes, new Set([80]));
});

test('a guest that sends much hides nothing for ever, and a second process takes over what the first left', async (t) => {
  const { ask, guest, wire } = await started(t);
  guest.isAwake = true;
  guest.listens.add(80);
  guest.chatter();
  await waitUntil(async () => (await ask([80])).takes.has(80), 'the answer is heard among the rest');
  wire.close();
  const { ask: again } = guest.asker();
  assert.deepEqual((await again([80])).isThere, true);
});

async function started(t: TestContext) {
  const hub = ['-netdev', 'hubport,id=h0,hubid=0,netdev=net0', '-netdev', 'hubport,id=h1,hubid=0,netdev=guest'];
  const user = 'user,id=net0,net=10.0.2.0/24,host=10.0.2.1,dhcpstart=10.0.2.2,ipv6=off';
  const far = ['-netdev', 'stream,id=guest,server=on,addr.type=unix,addr.path=guest.sock'];
  const qemu = await startQemu(t, { args: ['-netdev', user, ...far, ...hub] });
  const common = { path: qemu.qmpPath, signal: never, clock: systemClock, timeoutMs: 5_000, onEvent: () => {} };
  const qmp = await connectQmp(common);
  t.after(() => qmp.close());
  const socket = await connectUnixSocket(join(qemu.folder, 'guest.sock'));
  const asker = () => {
    const wire = new GuestWire({ folder: qemu.folder, execute: (command, args) => qmp.execute(command, args), clock: systemClock });
    t.after(() => wire.close());
    return { wire, ask: (ports: readonly number[]) => wire.ask(card, ports, never) };
  };
  const guest = new FrameGuest(socket, asker);
  t.after(() => guest.close());
  return { ...asker(), guest };
}

/** As much of a network stack as it takes to be asked. */
class FrameGuest {
  isAwake = false;
  mac = card.mac;
  readonly listens = new Set<number>();
  readonly drops = new Set<number>();
  readonly resets = new Set<number>();
  readonly asker;
  readonly #socket: Socket;
  #timer: NodeJS.Timeout | undefined;

  constructor(socket: Socket, asker: () => { wire: GuestWire; ask: (ports: readonly number[]) => ReturnType<GuestWire['ask']> }) {
    this.#socket = socket;
    this.asker = asker;
    let unread = Buffer.alloc(0);
    socket
      .on('error', () => {})
      .on('data', (bytes: Buffer) => {
        unread = Buffer.concat([unread, bytes]);
        while (unread.length >= 4 && unread.length >= 4 + unread.readUInt32BE(0)) {
          const length = unread.readUInt32BE(0);
          if (this.isAwake) this.#hear(Buffer.from(unread.subarray(4, 4 + length)));
          unread = unread.subarray(4 + length);
        }
      });
  }

  /** Large packets to the gateway, faster than anybody reads them. */
  chatter(): void {
    const packet = Buffer.alloc(1_000, 0xaa);
    Buffer.from(`52550a000201${this.mac.replaceAll(':', '')}0800450003da0000000040110000`, 'hex').copy(packet);
    Buffer.from([10, 0, 2, 2, 10, 0, 2, 1]).copy(packet, 26);
    this.#timer = setInterval(() => {
      for (let count = 0; count < 10; count++) this.#say(packet);
    }, 1);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#socket.destroy();
  }

  #hear(frame: Buffer): void {
    const own = Buffer.from(this.mac.replaceAll(':', ''), 'hex');
    const type = frame.readUInt16BE(12);
    if (type === 0x0806 && frame.readUInt16BE(20) === 1) {
      const ends = [own, frame.subarray(38, 42), frame.subarray(22, 28), frame.subarray(28, 32)];
      this.#say(Buffer.concat([frame.subarray(6, 12), own, Buffer.from('08060001080006040002', 'hex'), ...ends]));
    }
    if (type !== 0x0800 || !frame.subarray(0, 6).equals(own)) return;
    const tcp = frame.subarray(34);
    const [from, port, flags] = [tcp.readUInt16BE(0), tcp.readUInt16BE(2), tcp[13] ?? 0];
    if (flags & 0x04) this.resets.add(port);
    if (flags !== 0x02 || this.drops.has(port)) return;
    assert.equal(sum(Buffer.concat([frame.subarray(26, 34), Buffer.from([0, 6, 0, 20]), tcp.subarray(0, 20)])), 0xffff, 'the checksum');
    const answer = Buffer.from(frame.subarray(0, 54));
    Buffer.concat([frame.subarray(6, 12), own]).copy(answer);
    Buffer.concat([frame.subarray(30, 34), frame.subarray(26, 30)]).copy(answer, 26);
    answer.writeUInt16BE(port, 34);
    answer.writeUInt16BE(from, 36);
    answer.writeUInt32BE(7, 38);
    answer.writeUInt32BE(tcp.readUInt32BE(4) + 1, 42);
    answer[47] = this.listens.has(port) ? 0x12 : 0x14;
    answer.writeUInt16BE(0, 50);
    answer.writeUInt16BE(0xffff - sum(Buffer.concat([answer.subarray(26, 34), Buffer.from([0, 6, 0, 20]), answer.subarray(34)])), 50);
    this.#say(answer);
  }

  #say(frame: Buffer): void {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(frame.length);
    this.#socket.write(Buffer.concat([length, frame]));
  }
}

function sum(bytes: Buffer): number {
  let total = 0;
  for (let at = 0; at < bytes.length; at += 2) total += bytes.readUInt16BE(at);
  while (total > 0xffff) total = (total & 0xffff) + (total >>> 16);
  return total;
}
