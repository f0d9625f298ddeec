import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { httpsFetch } from '../../../src/base/node/https-fetch.ts';
import { ensurePki } from '../../../src/base/node/pki.ts';
import { type Random, seededRandom } from '../../../src/control-plane/apiserver/fuzzed-objects.testing.ts';
import { openStore } from '../../../src/control-plane/store/store.ts';
import { checkHistory } from './check-history.ts';
import { Recorder } from './record-history.ts';

/** `npm run test:soak` asks for all of them. */
const KILLS = Number(process.env['STORE_KILLS'] ?? 12);
const SEED = Number(process.env['KILL_SEED'] ?? Date.now() % 1_000_000);
/** Watchers lag behind by much less; everything older is forgotten while the test runs. */
const HISTORY_SIZE = 2_000;
/** Of the time in which it serves. */
const LONGEST_LIFE_MS = 300;
/** Of every second life. */
const LEAST_WRITES = 4;
/** One of so many is killed while it starts. */
const EARLY_KILLS = 6;
const LONGEST_START_MS = 250;

test(`${KILLS} kills at random moments under load: nothing acknowledged is lost, doubled or reordered`, {
  timeout: 120_000 + KILLS * 10_000,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'store-kills-'));
  const { ca, admin } = await ensurePki(join(folder, 'pki'), systemClock);
  const random = seededRandom(SEED);
  const server = new MortalServer(folder, random);
  t.after(async () => {
    await server.kill();
    rmSync(folder, { recursive: true, force: true });
  });
  await server.start();
  let agent = new Agent({ keepAlive: true });
  const recorder = new Recorder({
    fetch: (request) =>
      httpsFetch(request, { agent, connectTo: { host: '127.0.0.1', port: server.port }, ca, ...admin, servername: 'localhost' }),
    whenServing: () => server.whenServing,
    random,
  });
  t.after(() => recorder.abandon()); // or it would go on with whoever serves, and the file would not end
  await recorder.start();
  let early = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    await server.live();
    if (kill % 2 === 0) await recorder.untilAcknowledged(LEAST_WRITES); // on a busy machine a life is over before anything happened
    await server.kill();
    agent.destroy();
    agent = new Agent({ keepAlive: true });
    // Where it was faster than we, it was killed while it served, and another one serves by now: it is not started twice.
    if (kill % EARLY_KILLS !== EARLY_KILLS - 1) await server.start();
    else if (await server.dieEarly()) early += 1;
  }
  await server.whenServing;
  await recorder.finish();
  await server.kill();
  const { writes, lists, watchers } = recorder;
  const count = (outcome: string) => writes.filter((write) => write.outcome === outcome).length;
  const shown = `seed ${SEED}: ${KILLS} kills (${early} while starting), ${count('acknowledged')} writes acknowledged, ${count('refused')} refused, ${count('unknown')} unanswered, ${lists.length} lists, ${watchers.map(({ events }) => events.length).join(' and ')} events`;
  t.diagnostic(shown);
  assert.deepEqual(checkHistory(recorder).slice(0, 20), [], shown);
  assert.ok(count('acknowledged') > KILLS && watchers.every(({ events }) => events.length > 0), 'there was load');
  openStore({ path: join(folder, 'store.db') }).close(); // every checksum is right
});

/** The process that is killed, and when. */
class MortalServer {
  readonly #folder: string;
  readonly #random: Random;
  #child: ChildProcess | undefined;
  #serving = Promise.withResolvers<void>();
  #isServing = false;
  port = 0;

  constructor(folder: string, random: Random) {
    this.#folder = folder;
    this.#random = random;
  }

  get whenServing(): Promise<void> {
    return this.#serving.promise;
  }

  async start(): Promise<void> {
    const child = this.#spawn();
    const [line] = await Promise.race([
      once(child.stdout!, 'data'), // it is a pipe, see below
      once(child, 'exit').then(([code, signal]) => Promise.reject(new Error(`the server did not start: ${code ?? signal}`))),
    ]);
    this.port = Number(line);
    this.#isServing = true;
    this.#serving.resolve();
  }

  /** Killed before it serves, and started again. False when it was faster than we. */
  async dieEarly(): Promise<boolean> {
    const child = this.#spawn();
    let hasServed = false;
    child.stdout?.once('data', () => {
      hasServed = true;
    });
    await systemClock.sleep(this.#random() * LONGEST_START_MS);
    await this.kill();
    await this.start();
    return !hasServed;
  }

  live(): Promise<void> {
    return systemClock.sleep(this.#random() * LONGEST_LIFE_MS);
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    if (this.#isServing) this.#serving = Promise.withResolvers<void>();
    this.#isServing = false;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  #spawn(): ChildProcess {
    const program = join(import.meta.dirname, 'server-process.ts');
    const args = ['--disable-warning=ExperimentalWarning', program, this.#folder, String(HISTORY_SIZE)];
    this.#child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    return this.#child;
  }
}
