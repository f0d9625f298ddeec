import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Pod } from '../../api/core/pod.ts';
import { HANDLER_PORT_NAME } from '../../api/handler/routes.ts';
import { ApiError } from '../../base/errors.ts';
import { silentLogger } from '../../base/log.ts';
import { type Pki, VIRT_HANDLER_CLIENT_NAME } from '../../base/node/pki.ts';
import { startWebServer, type WebServer } from '../../base/node/web-server.ts';
import { temporaryPki } from '../../control-plane/apiserver/transport/tls.testing.ts';
import { FakeApi } from '../fake-api.testing.ts';
import { askHandler } from './ask-handler.ts';

describe('a question to virt-handler', () => {
  const api = new FakeApi();
  const heard: string[] = [];
  let answer: () => Response = () => new Response();
  let pki: Pki;
  let remove: () => Promise<void>;
  let server: WebServer;
  before(async () => {
    ({ pki, remove } = await temporaryPki());
    server = await startWebServer({
      serving: pki.virtHandler,
      clientCa: pki.kubevirtCa,
      host: '127.0.0.1',
      port: 0,
      log: silentLogger,
      async handle(request, { peer }) {
        assert.equal(peer?.commonName, VIRT_HANDLER_CLIENT_NAME);
        const { pathname, search } = new URL(request.url);
        heard.push(`${request.method} ${pathname}${search} ${await request.text()}`.trim());
        return answer();
      },
    });
    const pod: Pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'virt-handler-n1', namespace: 'kubevirt', labels: { 'kubevirt.io': 'virt-handler' } },
      spec: { nodeName: 'n1', containers: [{ name: 'virt-handler', ports: [{ name: HANDLER_PORT_NAME, containerPort: server.port }] }] },
      status: { phase: 'Running', podIP: '127.0.0.1' },
    };
    api.put('pods', pod);
  });
  after(async () => {
    await server.close();
    await remove();
  });

  const call = () => ({ client: api.client, handlerTls: { ...pki.virtHandlerClient, ca: pki.kubevirtCa } });
  const db = { nodeName: 'n1', parameters: { namespace: 'default', name: 'db' }, purpose: 'reach VMI default/db' };

  test('has the path, the query and the body of its line in the table, and the answer its type', async () => {
    heard.length = 0;
    answer = () => new Response();
    assert.equal(await askHandler(call(), 'pause', { ...db, question: {} }), undefined);
    answer = () => Response.json({ exitCode: 0, stdout: '', stderr: '', isTruncated: false });
    assert.equal((await askHandler(call(), 'exec', { ...db, question: { command: ['id'] } })).exitCode, 0);
    answer = () => new Response('PNG');
    assert.equal(String(Buffer.from(await askHandler(call(), 'vnc/screenshot', { ...db, question: { moveCursor: true } }))), 'PNG');
    assert.deepEqual(heard, [
      'PUT /v1/namespaces/default/virtualmachineinstances/db/pause',
      'PUT /v1/namespaces/default/virtualmachineinstances/db/exec {"command":["id"]}',
      'GET /v1/namespaces/default/virtualmachineinstances/db/vnc/screenshot?moveCursor=true',
    ]);
  });

  const status = (reason: string, code: number) =>
    Response.json({ kind: 'Status', apiVersion: 'v1', reason, message: 'no', code }, { status: code });
  const REFUSALS: readonly (readonly [name: string, answer: () => Response, expected: string])[] = [
    ['not found', () => status('NotFound', 404), 'NotFound 404 Cannot reach VMI default/db: no'],
    ['a conflict', () => status('Conflict', 409), 'Conflict 409 Cannot reach VMI default/db: no'],
    ['that it is busy', () => status('TooManyRequests', 429), 'TooManyRequests 429 Cannot reach VMI default/db: no'],
    [
      'that virt-api may not ask, which the user is not blamed for',
      () => status('Forbidden', 403),
      'InternalError 500 Cannot reach VMI default/db: no',
    ],
    ['something that is no Status', () => new Response('broken', { status: 500 }), 'InternalError 500 Cannot reach VMI default/db: broken'],
    [
      'nonsense',
      () => new Response('{'),
      "ServiceUnavailable 503 Cannot reach the virt-handler of node n1: Expected property name or '}' in JSON at position 1 (line 1 column 2)",
    ],
  ];
  for (const [name, answered, expected] of REFUSALS)
    test(`virt-handler answers ${name}, and the caller is told`, async () => {
      answer = answered;
      const asked = askHandler(call(), 'usage', { ...db, question: {} });
      const said = await asked.catch((error: unknown) => error);
      assert.ok(said instanceof ApiError);
      assert.equal(`${said.reason} ${said.code} ${said.message}`, expected);
    });

  test('is not asked where a name would become another path', async () => {
    const asked = askHandler(call(), 'pause', { ...db, parameters: { namespace: '..', name: 'db' }, question: {} });
    await assert.rejects(asked, { name: 'ApiError', reason: 'BadRequest' });
  });
});
