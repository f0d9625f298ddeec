import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import { type TestContext, test } from 'node:test';
import { EXPORT_PORT, EXPORT_TOKEN_HEADER } from '../../api/exporter/exporter.ts';
import { ApiError } from '../../base/errors.ts';
import { issueAuthority, issueLeaf } from '../../base/node/pki-issue.ts';
import type { Client } from '../../client/client.ts';
import { answerExternal, externalExportOf } from './pass-on-export.ts';

/** One of this machine that no other test listens at. */
const POD_ADDRESS = '127.81.43.7';
const HOUR_MS = 60 * 60 * 1000;
const DISK = '/api/export.kubevirt.io/v1/namespaces/team/virtualmachineexports/NAME/volumes/data/disk.img';

/** A Pod that serves, behind TLS: it looks at the token. */
async function servingPod(t: TestContext): Promise<void> {
  const validity = { notBeforeMs: Date.now() - HOUR_MS, notAfterMs: Date.now() + HOUR_MS };
  const authority = await issueAuthority({ commonName: 'virt-exporter' }, validity);
  const { cert, key } = await issueLeaf(authority, { subject: { commonName: 'virt-exporter' }, use: 'server' }, validity);
  const server = createServer({ cert, key }, (request, response) => {
    const isRight = request.headers[EXPORT_TOKEN_HEADER] === 'right';
    response.writeHead(isRight ? 200 : 401, { 'content-type': 'text/plain' }).end(isRight ? 'bytes' : 'words of the Pod');
  });
  server.listen(EXPORT_PORT, POD_ADDRESS);
  await once(server, 'listening');
  t.after(() => server.close());
  t.after(() => server.closeAllConnections());
}

/** There are `served`, and `waiting`, whose Pod does not run. */
const client = {
  async get({ kind }: { kind: string }, { name }: { name: string }) {
    const exported = name.replace(/^virt-export-/, '');
    if (exported === 'nobody') return undefined;
    const reference = {
      apiVersion: 'export.kubevirt.io/v1',
      kind: 'VirtualMachineExport',
      name: exported,
      uid: exported,
      controller: true,
    };
    const status = { phase: exported === 'served' ? 'Running' : 'Pending', podIP: POD_ADDRESS };
    return kind === 'Pod'
      ? { metadata: { name, ownerReferences: [reference] }, status }
      : { apiVersion: 'export.kubevirt.io/v1', kind: 'VirtualMachineExport', metadata: { name, uid: exported } };
  },
} as unknown as Client; // nothing else is asked for

async function answerFor(name: string, token: string): Promise<unknown> {
  const path = DISK.replace('NAME', name);
  const target = externalExportOf(path) ?? assert.fail();
  const request = new Request(`https://virt-api${path}`, { headers: { [EXPORT_TOKEN_HEADER]: token } });
  try {
    const answer = await answerExternal(request, target, client);
    return [answer.status, await answer.text()];
  } catch (error) {
    assert.ok(error instanceof ApiError);
    return [error.reason, error.message, error.details];
  }
}

test('who has no token is told the same of exports that are there and of those that are not', async (t) => {
  await servingPod(t);
  const nobody = await answerFor('nobody', 'wrong');
  assert.deepEqual(nobody, ['Unauthorized', 'this needs the token of an export that serves: x-kubevirt-export-token: TOKEN', undefined]);
  assert.deepEqual(await answerFor('served', 'wrong'), nobody);
  assert.deepEqual(await answerFor('waiting', 'wrong'), nobody);
  assert.deepEqual(await answerFor('served', ''), nobody);
  assert.deepEqual(await answerFor('served', 'right'), [200, 'bytes']);
});
