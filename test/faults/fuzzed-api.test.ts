/** Requests that nobody should send, to a whole API server with virt-api behind it: each is answered, none with a fault of ours, and nobody else waits. */
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { test } from 'node:test';
import { seededRandom } from '../../src/control-plane/apiserver/fuzzed-objects.testing.ts';
import { requestSource, type Sent } from './fuzz/fuzzed-request.ts';
import { SLOW_MS } from './fuzz/stall-meter.ts';
import { PUBLISHED_500 } from './fuzz/subresources.ts';

/** The full count is for `npm run test:soak`. */
const REQUESTS = Number(process.env['FUZZED_REQUESTS'] ?? 3_000);
const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_116);
const CLIENTS = 8;
/** Of one turn of the event loop, in CPU time. */
const WORST_MS = 1_000;
/** Turns that are longer than SLOW_MS, of all requests. */
const SLOW_SHARE = 0.001;
const MAX_RESIDENT_MIB = 700;
/** Nothing asks for longer; a busy machine may need some of it. */
const ANSWER_WITHIN_MS = 30_000;

type Tls = { readonly port: number; readonly ca: string; readonly cert: string; readonly key: string };
type Report = { readonly slowTurns: number; readonly worstMs: number; readonly residentMiB: number };

test(`${REQUESTS} requests that nobody should send are all answered, none with a fault of ours`, {
  timeout: 120_000 + REQUESTS * 20,
}, async (t) => {
  const child = fork(join(import.meta.dirname, 'fuzz/server-process.ts'), { execArgv: ['--disable-warning=ExperimentalWarning'] });
  t.after(async () => {
    child.disconnect();
    await once(child, 'exit');
  });
  const tls = await heard<Tls>(child);
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  t.after(() => agent.destroy());
  const next = requestSource(seededRandom(SEED));
  const failures: string[] = [];
  const answers = new Map<number, number>();
  let left = REQUESTS;
  const client = async () => {
    while (left > 0 && failures.length < 20) {
      left -= 1;
      const sent = next();
      const { status, text } = await answerTo(sent, { ...tls, agent });
      answers.set(status, (answers.get(status) ?? 0) + 1);
      if (status === 0 || (status >= 500 && !isAllowed(status, text))) failures.push(shown(sent, `${status} ${text}`));
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  child.send('how was it?');
  const report = await heard<Report>(child);
  t.diagnostic(`${REQUESTS} requests: ${JSON.stringify(report)} ${JSON.stringify(Object.fromEntries(answers))}`);
  assert.deepEqual(failures, []);
  assert.ok(
    (answers.get(201) ?? 0) > REQUESTS / 50 && (answers.get(422) ?? 0) > REQUESTS / 50,
    'some are taken, and some are looked at closely',
  );
  assert.ok(
    report.slowTurns <= REQUESTS * SLOW_SHARE,
    `${report.slowTurns} turns of the event loop took more than ${SLOW_MS} ms of CPU time`,
  );
  assert.ok(report.worstMs <= WORST_MS, `${report.worstMs} ms of CPU time in one turn of the event loop`);
  assert.ok(report.residentMiB <= MAX_RESIDENT_MIB, `${report.residentMiB} MiB of memory`);
});

function isAllowed(status: number, text: string): boolean {
  return status === 503 ? /"reason":"\w+"/.test(text) : status === 500 && PUBLISHED_500.test(text);
}

async function heard<T>(child: ChildProcess): Promise<T> {
  const [message] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code, signal]) => Promise.reject(new Error(`the server ended: ${code ?? signal}`))),
  ]);
  return message as T; // what server-process.ts tells
}

/** Status 0 is no answer. The connection may break when we still send what nobody wants to have; the answer comes before. */
function answerTo({ method, path, headers, body }: Sent, tls: Tls & { agent: Agent }): Promise<{ status: number; text: string }> {
  return new Promise((resolve) => {
    const options = {
      ...tls,
      host: '127.0.0.1',
      servername: 'localhost',
      method,
      path,
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    };
    const outgoing = httpsRequest(options, (incoming) => {
      let text = '';
      incoming.setEncoding('utf8');
      incoming.on('data', (chunk) => {
        if (text.length < 1_000) text += chunk;
      });
      if (path.includes('watch=1') && incoming.statusCode === 200) incoming.destroy(); // it would go on
      const done = () => resolve({ status: incoming.statusCode ?? 0, text: text.slice(0, 1_000) });
      incoming.on('close', done);
    });
    outgoing.setTimeout(ANSWER_WITHIN_MS, () => outgoing.destroy(new Error(`no answer within ${ANSWER_WITHIN_MS} ms`)));
    outgoing.on('error', (error) => resolve({ status: 0, text: error.message }));
    outgoing.end(body);
  });
}

function shown({ method, path, headers, body }: Sent, answer: string): string {
  return `${method} ${path.slice(0, 200)} ${JSON.stringify(headers).slice(0, 200)} ${body.slice(0, 600)} (${body.length} bytes): ${answer.slice(0, 400)}`;
}
