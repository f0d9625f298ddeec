/** Attacks on the page of `virtctl ui`, as they come over the wire. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { WebSocket } from 'ws';
import { systemClock } from '../base/clock.ts';
import { silentLogger } from '../base/log.ts';
import { startUiServer, type UiServer } from './start.ts';

const VMS = '/apis/kubevirt.io/v1/virtualmachines';
const EVIL = 'http://evil.example';

describe('the page of virtctl ui', () => {
  let ui: UiServer;
  let cookie = '';
  before(async () => {
    const cluster = { context: 'c', server: 'https://127.0.0.1:1' }; // nothing that is refused gets there
    const newKey = () => randomBytes(32).toString('base64url');
    ui = await startUiServer({
      cluster,
      reload: async () => cluster,
      version: 'test',
      namespace: 'default',
      files: () => new Map(),
      port: 0,
      keys: { link: newKey(), session: newKey() },
      lookAtHost: async () => [{ name: 'node', status: 'ok', text: 'v24' }],
      clock: systemClock,
      log: silentLogger,
    });
    const { headers } = await ask(pathOf(ui.link()), {});
    cookie = (headers['set-cookie']?.[0] ?? '').split(';')[0] ?? '';
  });
  after(() => ui.close());

  const pathOf = (link: string) => link.slice(new URL(link).origin.length);
  const own = () => ({ host: `127.0.0.1:${ui.port}`, cookie });

  async function ask(path: string, headers: Record<string, string>, method = 'GET') {
    const sent = request({ host: '127.0.0.1', port: ui.port, path, method, headers });
    sent.end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    const body = Buffer.concat(await answer.toArray()).toString();
    return { status: answer.statusCode, headers: answer.headers, body };
  }

  /** The status with which a WebSocket is refused. */
  async function open(headers: Record<string, string>): Promise<string> {
    const socket = new WebSocket(`ws://127.0.0.1:${ui.port}${VMS}?watch=true`, { headers });
    const [error] = (await once(socket, 'error')) as [Error];
    return /\d{3}/.exec(error.message)?.[0] ?? error.message;
  }

  test('a link lets one in, by a cookie that scripts cannot read and other sites not send; a second time it does not', async () => {
    const link = pathOf(ui.link());
    const [first, second] = [await ask(link, {}), await ask(link, {})];
    assert.match(first.headers['set-cookie']?.[0] ?? '', /^kubevirt-ts-[^=]+=[^;]+; HttpOnly; SameSite=Strict; Path=\/$/);
    assert.deepEqual([first.status, first.headers.location, second.status, second.headers['set-cookie']], [303, '/', 403, undefined]);
  });

  test('without the cookie there is nothing: no page, no API, nothing of the machine', async () => {
    const { host } = own();
    for (const path of ['/', VMS, '/session.json', '/doctor.json', '/enter', '/enter?token=nonsense'])
      assert.ok([401, 403].includes((await ask(path, { host })).status ?? 0), path);
    assert.equal((await ask('/doctor.json', own())).status, 200);
  });

  test('another host is refused, also to who has the cookie: a site could have its name point here', async () => {
    for (const host of [`evil.example:${ui.port}`, `127.0.0.1.evil.example:${ui.port}`, '127.0.0.1'])
      for (const path of ['/', VMS, '/doctor.json', pathOf(ui.link())])
        assert.equal((await ask(path, { ...own(), host })).status, 421, path);
  });

  test('what another site sends changes nothing and opens no WebSocket, with the cookie or without', async () => {
    for (const origin of [EVIL, 'null', `http://127.0.0.1:${ui.port + 1}`, `https://127.0.0.1:${ui.port}`]) {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
        assert.equal((await ask(VMS, { ...own(), origin }, method)).status, 403, `${method} ${origin}`);
      assert.equal(await open({ ...own(), origin }), '403', origin);
    }
    assert.equal(await open({ host: own().host, origin: `http://127.0.0.1:${ui.port}` }), '401');
  });

  test('no answer can be framed, guessed at or run: not the page, not a refusal, not one of the API', async () => {
    for (const [path, headers] of [
      ['/', own()],
      ['/session.json', own()],
      ['/doctor.json', own()],
      ['/nowhere', {}],
      [VMS, { host: own().host }],
      [VMS, own()], // of a cluster that is away
    ] as const) {
      const { headers: answered } = await ask(path, headers);
      const policy = String(answered['content-security-policy']);
      assert.match(policy, /frame-ancestors 'none'/, path);
      assert.equal(answered['x-frame-options'], 'DENY', path);
      assert.doesNotMatch(policy, /script-src[^;]*(unsafe|\*|http)/, path);
      assert.equal(answered['x-content-type-options'], 'nosniff', path);
    }
  });
});
