import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { silentLogger } from '../../base/log.ts';
import type { ClusterNames } from './cluster-names.ts';
import { encodeAnswer, encodeQuestion, parseQuery, parseReply, RCODE, TYPE } from './message.ts';
import { serveDns } from './serve-dns.ts';
import { createUpstream } from './upstream.ts';

const PORT = 28_053;
const HOST = '127.0.0.1';
const NONE = () => undefined;
const MANY = Array.from({ length: 100 }, (_, index) => ({ addresses: [`10.244.1.${index}`] }));
const NAMES: ClusterNames = {
  service: (_, name) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default' },
    spec: name === 'out' ? { type: 'ExternalName', externalName: 'example.org' } : { clusterIP: name === 'many' ? 'None' : '10.96.1.1' },
  }),
  slices: () => [{ apiVersion: 'v1', kind: 'EndpointSlice', metadata: { name: 'x' }, addressType: 'IPv4', endpoints: MANY }],
  machine: NONE,
  hasNamespace: () => true,
  serviceAt: NONE,
  podAt: NONE,
};

const stop = new AbortController();
const host = createSocket('udp4'); // the name server of the host
let inside = true;

before(async () => {
  host.on('message', (message, { port, address }) => {
    const query = parseQuery(message);
    if (!query || 'malformed' in query) return;
    const { name, type } = query.question;
    if (name === 'silent.example') return;
    const records = name === 'example.org' && type === TYPE.A ? [{ name, type, ttl: 60, data: Buffer.from([192, 0, 2, 1]) }] : [];
    const rcode = name === 'example.org' ? RCODE.NOERROR : RCODE.NXDOMAIN;
    const answer = encodeAnswer(query, { rcode, isAuthoritative: false, answers: records }, 512);
    const forged = Buffer.from(answer);
    forged.writeUInt16BE(query.id ^ 1);
    host.send(forged, port, address); // of somebody who guesses
    host.send(answer, port, address);
  });
  host.bind(0, HOST);
  await once(host, 'listening');
  const upstream = createUpstream({ host: HOST, port: host.address().port, timeoutMs: 200 });
  const listeners = (['udp', 'tcp'] as const).map((protocol) => ({ host: HOST, port: PORT, protocol }));
  await serveDns({ names: NAMES, upstream, listeners, isInside: () => inside, log: silentLogger, signal: stop.signal });
});
after(() => {
  stop.abort();
  host.close();
});

function resolver(): Resolver {
  const own = new Resolver({ timeout: 1000, tries: 1 });
  own.setServers([`${HOST}:${PORT}`]);
  return own;
}

test('a resolver finds names of the cluster, names elsewhere, and what stands for one', async () => {
  assert.deepEqual(await resolver().resolve4('WEB.default.svc.cluster.local'), ['10.96.1.1']);
  assert.deepEqual(await resolver().resolve4('example.org'), ['192.0.2.1']);
  assert.deepEqual(await resolver().resolve4('out.default.svc.cluster.local'), ['192.0.2.1']);
  await assert.rejects(resolver().resolve4('nobody.example'), { code: 'ENOTFOUND' });
  await assert.rejects(resolver().resolve4('x.y.cluster.local'), { code: 'ENOTFOUND' });
  await assert.rejects(resolver().resolve6('web.default.svc.cluster.local'), { code: 'ENODATA' });
  await assert.rejects(resolver().resolve4('silent.example'), { code: 'ESERVFAIL' });
});

test('an answer that is too long for a datagram is asked for by TCP', async () => {
  assert.equal((await resolver().resolve4('many.default.svc.cluster.local')).length, 100);
  const socket = createSocket('udp4');
  socket.send(encodeQuestion(7, 'many.default.svc.cluster.local', TYPE.A), PORT, HOST);
  const [answer] = (await once(socket, 'message')) as [Buffer];
  socket.close();
  assert.deepEqual([answer.length < 128, (answer.readUInt16BE(2) & 0x0200) !== 0], [true, true]);
});

/** What comes back by TCP, where silence has an end. */
async function said(message: Buffer): Promise<Buffer | undefined> {
  const socket = connect(PORT, HOST);
  const head = Buffer.alloc(2);
  head.writeUInt16BE(message.length);
  socket.write(Buffer.concat([head, message]));
  socket.on('error', () => {});
  for await (const chunk of socket) {
    socket.destroy();
    return (chunk as Buffer).subarray(2);
  }
  return undefined;
}

const GOOD = encodeQuestion(77, 'web.default.svc.cluster.local', TYPE.A);
function changed(change: (message: Buffer) => void): Buffer {
  const message = Buffer.from(GOOD);
  change(message);
  return message;
}

const BAD: [fact: string, message: Buffer, rcode: number | undefined][] = [
  ['less than a header', Buffer.alloc(5), undefined],
  ['an answer', changed((message) => message.writeUInt16BE(0x8000, 2)), undefined],
  ['no question', changed((message) => message.writeUInt16BE(0, 4)), RCODE.FORMERR],
  ['two questions', changed((message) => message.writeUInt16BE(2, 4)), RCODE.FORMERR],
  ['more records than there are', changed((message) => message.writeUInt16BE(60_000, 10)), RCODE.FORMERR],
  ['a name that points at itself', changed((message) => message.writeUInt16BE(0xc00c, 12)), RCODE.FORMERR],
  ['a label beyond the end', changed((message) => message.writeUInt8(63, 12)).subarray(0, 20), RCODE.FORMERR],
  ['a name without an end', Buffer.concat([GOOD.subarray(0, 12), Buffer.alloc(300, Buffer.from([1, 97]))]), RCODE.FORMERR],
  ['an update', changed((message) => message.writeUInt16BE(5 << 11, 2)), RCODE.NOTIMP],
  ['everything', encodeQuestion(1, 'many.default.svc.cluster.local', TYPE.ANY), RCODE.NOTIMP],
];
for (const [fact, message, rcode] of BAD) {
  test(`a message with ${fact} is answered with ${rcode ?? 'nothing'}`, async () => {
    const answer = await said(message);
    assert.equal(answer && answer.readUInt16BE(2) & 15, rcode);
  });
}

test('a pointer in an answer of others leads backwards, or the answer is none', () => {
  const record = Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 5, 0, 4, 192, 0, 2, 9]);
  const reply = (bytes: Buffer) => {
    const message = Buffer.concat([GOOD.subarray(0, -11), bytes]);
    message.writeUInt16BE(0x8180, 2);
    message.writeUInt16BE(1, 6);
    message.writeUInt16BE(0, 10);
    return parseReply(message)?.records.map(({ name, data }) => [name, data.join('.')]);
  };
  assert.deepEqual(reply(record), [['web.default.svc.cluster.local', '192.0.2.9']]);
  const forwards = Buffer.from(record);
  forwards.writeUInt16BE(0xc000 | (GOOD.length - 11), 0); // at itself
  assert.equal(reply(forwards), undefined);
  assert.equal(reply(record.subarray(0, 12)), undefined);
});

test('whatever comes in, it goes on answering', async () => {
  const socket = createSocket('udp4');
  let seed = 1;
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed & 255;
  };
  for (let round = 0; round < 2_000; round++) {
    const noise = Buffer.from(Array.from({ length: random() }, random));
    const message = round % 2 ? noise : changed((good) => good.writeUInt8(random(), random() % good.length));
    socket.send(message, PORT, HOST);
  }
  socket.close();
  assert.deepEqual(await resolver().resolve4('web.default.svc.cluster.local'), ['10.96.1.1']);
});

test('nobody outside is answered', async () => {
  inside = false;
  assert.equal(await said(GOOD), undefined);
  await assert.rejects(resolver().resolve4('web.default.svc.cluster.local'), { code: 'ETIMEOUT' });
});
