import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { FakeClock } from '../testing/fake-clock.ts';
import { quiet } from '../testing/until.ts';
import { keepAlive, PING_MS } from './keep-alive.ts';

const AN_HOUR_OF_PINGS = 3_600_000 / PING_MS;

class Peer extends EventEmitter {
  isPaused = false;
  pings = 0;
  isEnded = false;
  readonly #answers: boolean;
  constructor(answers: boolean) {
    super();
    this.#answers = answers;
  }
  ping(): void {
    this.pings += 1;
    if (this.#answers) this.emit('pong');
  }
  terminate(): void {
    this.isEnded = true;
    this.emit('close');
  }
}

async function anHourWith(peer: Peer): Promise<void> {
  const clock = new FakeClock();
  void keepAlive(peer, clock);
  for (let ping = 0; ping < AN_HOUR_OF_PINGS; ping++) {
    await quiet();
    clock.advance(PING_MS);
  }
  await quiet();
}

test('a console that is idle for an hour stays', async () => {
  const peer = new Peer(true);
  await anHourWith(peer);
  assert.deepEqual([peer.pings, peer.isEnded], [AN_HOUR_OF_PINGS, false]);
});

test('a client that is gone without a word is noticed by the second ping', async () => {
  const peer = new Peer(false);
  await anHourWith(peer);
  assert.deepEqual([peer.pings, peer.isEnded], [1, true]);
});

test('a client that we do not read from is not blamed', async () => {
  const peer = new Peer(false);
  peer.isPaused = true;
  await anHourWith(peer);
  assert.equal(peer.isEnded, false);
});

test('a peer that does not answer but asks itself is there', async () => {
  const peer = new Peer(false);
  peer.ping = () => peer.emit('ping');
  await anHourWith(peer);
  assert.equal(peer.isEnded, false);
});

test('a closed connection is not pinged', async () => {
  const peer = new Peer(true);
  peer.once('pong', () => peer.emit('close'));
  await anHourWith(peer);
  assert.equal(peer.pings, 1);
});
