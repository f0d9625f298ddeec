/**
 * A tap on the network of one guest, inside its QEMU: a filter through which frames come to the guest from a socket of ours, and one that
 * copies what the guest sends into a ring of memory while a question is open. QEMU never waits for us: what the ring has no room for is lost.
 */
import { randomInt } from 'node:crypto';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { FRAMES_SOCKET } from '../../api/launcher/files.ts';
import type { Clock } from '../../base/clock.ts';
import { POD_NETDEV } from '../../qemu/convert/input.ts';
import type { PodCard } from '../../qemu/convert/network.ts';
import { connectUnixSocket } from '../../qemu/qmp/connect-socket.ts';
import { answerIn, isComplete, type PortsAnswer, type PortsQuestion, questionBytes } from './port-frames.ts';

export type WireOptions = {
  /** Where QEMU makes its sockets. */
  readonly folder: string;
  readonly execute: (command: string, parameters: object) => Promise<unknown>;
  readonly clock: Clock;
};

const [IN, OUT] = ['frames-in', 'frames-out'];
const [REDIRECTOR, MIRROR] = ['frames-to-guest', 'frames-from-guest'];
/** Room for the answers of every port that may be asked at once, and some forty large packets besides. */
const RING_BYTES = 64 * 1024;
/** A guest that is awake answers in the first; one that never does costs all three. */
const READ_AFTER_MS = [5, 40, 200];
const SOURCE_PORTS = { first: 49_152, last: 65_535 } as const;

export class GuestWire {
  readonly #options: WireOptions;
  #socket: Socket | undefined;
  /** The guest may answer from another address than its card has, such as that of a bridge in it. */
  #mac: string | undefined;

  constructor(options: WireOptions) {
    this.#options = options;
  }

  /** At which of these ports the guest takes connections. One question at a time. */
  async ask(card: PodCard, ports: readonly number[], signal: AbortSignal): Promise<PortsAnswer> {
    const { execute, clock } = this.#options;
    const socket = await this.#opened();
    const sourcePort = randomInt(SOURCE_PORTS.first, SOURCE_PORTS.last + 1);
    const question: PortsQuestion = { ...card, mac: this.#mac ?? card.mac, sourcePort, ports };
    const seen: Buffer[] = [];
    await this.#mirror('on');
    try {
      socket.write(questionBytes(question));
      for (const waitMs of READ_AFTER_MS) {
        await clock.sleep(waitMs, signal);
        seen.push(bytesIn(await execute('ringbuf-read', { device: OUT, size: RING_BYTES, format: 'base64' })));
        if (isComplete(answerIn(Buffer.concat(seen), question), question)) break;
      }
    } finally {
      await this.#mirror('off');
    }
    const answer = answerIn(Buffer.concat(seen), question);
    this.#mac = answer.mac ?? this.#mac;
    return answer;
  }

  /** Nothing is taken away: QEMU ends with its Pod, and whoever comes after us makes all of it anew. */
  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  async #mirror(status: 'on' | 'off'): Promise<void> {
    await this.#options.execute('qom-set', { path: `/objects/${MIRROR}`, property: 'status', value: status });
  }

  async #opened(): Promise<Socket> {
    if (this.#socket && !this.#socket.destroyed) return this.#socket;
    const { execute, folder } = this.#options;
    // What one before us left may be in any state.
    for (const id of [REDIRECTOR, MIRROR]) await execute('object-del', { id }).catch(() => {});
    for (const id of [IN, OUT]) await execute('chardev-remove', { id }).catch(() => {});
    const addr = { type: 'unix', data: { path: FRAMES_SOCKET } };
    await execute('chardev-add', { id: IN, backend: { type: 'socket', data: { addr, server: true, wait: false } } });
    await execute('chardev-add', { id: OUT, backend: { type: 'ringbuf', data: { size: RING_BYTES } } });
    const common = { netdev: POD_NETDEV, position: 'tail' };
    await execute('object-add', { 'qom-type': 'filter-redirector', id: REDIRECTOR, ...common, queue: 'tx', indev: IN });
    await execute('object-add', { 'qom-type': 'filter-mirror', id: MIRROR, ...common, queue: 'rx', outdev: OUT, status: 'off' });
    const socket = await connectUnixSocket(join(folder, FRAMES_SOCKET));
    socket.on('error', () => {}).resume(); // 'close' follows, and the next question opens another
    this.#socket = socket;
    return socket;
  }
}

function bytesIn(answer: unknown): Buffer {
  return Buffer.from(typeof answer === 'string' ? answer.slice(0, 2 * RING_BYTES) : '', 'base64');
}
