import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { builtInSchema } from '../schema/built-in.ts';
import { openApiV2Protobuf } from './v2.ts';
import { type OpenApiResource, openApiV3Document } from './v3.ts';

const run = promisify(execFile);
const kubectl = process.env['KUBECTL'] ?? 'kubectl';
const skip = (await run(kubectl, ['version', '--client']).then(
  () => false as const,
  () => 'kubectl is not installed',
)) satisfies false | string;

const pod: OpenApiResource = {
  group: '',
  version: 'v1',
  kind: 'Pod',
  plural: 'pods',
  namespaced: true,
  subresources: ['status', 'scale'],
  isBuiltIn: true,
  schema: builtInSchema('', 'v1', 'Pod')!,
};
const size = { type: 'integer', description: 'How big it is.' } as const;
const widget: OpenApiResource = {
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: true,
  subresources: ['status', 'scale'],
  isBuiltIn: false,
  schema: { type: 'object', properties: { spec: { type: 'object', properties: { size } } } },
};

/** Just enough of an API server for kubectl to find a kind and its documentation. */
function documentServer(hasV3: boolean): Server {
  const resourcesOf = ({ kind, plural: name }: OpenApiResource) => [
    { name, singularName: '', namespaced: true, kind, verbs: ['create', 'get', 'patch'] },
  ];
  const version = { groupVersion: 'example.com/v1', version: 'v1' };
  const answers: Record<string, unknown> = {
    '/version': { major: '1', minor: '32', gitVersion: 'v1.32.0' },
    '/api': { kind: 'APIVersions', versions: ['v1'] },
    '/apis': { kind: 'APIGroupList', apiVersion: 'v1', groups: [{ name: 'example.com', versions: [version], preferredVersion: version }] },
    '/api/v1': { kind: 'APIResourceList', groupVersion: 'v1', resources: resourcesOf(pod) },
    '/apis/example.com/v1': { kind: 'APIResourceList', groupVersion: 'example.com/v1', resources: resourcesOf(widget) },
    '/openapi/v2': openApiV2Protobuf([pod, widget]),
  };
  if (hasV3) {
    const at = (path: string) => [path, { serverRelativeURL: `/openapi/v3/${path}?hash=1` }];
    answers['/openapi/v3'] = { paths: Object.fromEntries([at('api/v1'), at('apis/example.com/v1')]) };
    answers['/openapi/v3/api/v1'] = openApiV3Document('api/v1', [pod]);
    answers['/openapi/v3/apis/example.com/v1'] = openApiV3Document('apis/example.com/v1', [widget]);
  }
  return createServer((request, response) => {
    const answer = answers[new URL(request.url ?? '/', 'http://server').pathname];
    const isBinary = answer instanceof Uint8Array;
    const type = isBinary ? 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf' : 'application/json';
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': type });
    response.end(
      isBinary ? answer : JSON.stringify(answer ?? { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404 }),
    );
  });
}

async function explained(field: string, hasV3: boolean): Promise<string> {
  const server = documentServer(hasV3);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const home = await mkdtemp(join(tmpdir(), 'kubectl-'));
  try {
    // A listening TCP server has an address with a port.
    const { port } = server.address() as AddressInfo;
    const args = ['--server', `http://127.0.0.1:${port}`, '--cache-dir', home, 'explain', field];
    const { stdout } = await run(kubectl, args, {
      env: { PATH: process.env['PATH'], HOME: home, KUBECONFIG: '/dev/null' },
      timeout: 20_000,
    });
    return stdout;
  } finally {
    server.closeAllConnections();
    server.close();
    await rm(home, { recursive: true });
  }
}

for (const hasV3 of [true, false]) {
  const from = hasV3 ? 'v3' : 'v2 as protobuf';
  test(`kubectl explains a custom field from ${from}`, { skip }, async () => {
    assert.match(await explained('widgets.spec.size', hasV3), /size <integer>[\s\S]*How big it is\./);
  });
  test(`kubectl explains a pod's port from ${from}`, { skip }, async () => {
    assert.match(await explained('pods.spec.containers.ports', hasV3), /containerPort\s+<integer> -required-/);
  });
}
