import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findRequest, findStream } from './find-route.ts';
import type { HandlerRoute } from './route.ts';
import { buildRoutePath, type RouteParameters } from './route-path.ts';
import { HANDLER_ROUTES } from './routes.ts';

const LONGEST: RouteParameters = { namespace: 'n'.repeat(63), name: 'n'.repeat(253), port: 65_535, protocol: 'tcp', uid: 'u'.repeat(128) };

for (const [name, route] of Object.entries<HandlerRoute>(HANDLER_ROUTES)) {
  test(`${name} is found at its path, with the longest of names, by its method alone`, () => {
    const path = buildRoutePath<string>(route.path, LONGEST);
    const found = ['GET', 'PUT', 'POST', 'HEAD'].map((method) => findRequest(method, path)?.name);
    const isAt = (method: string) => ('method' in route && route.method === method ? name : undefined);
    assert.deepEqual(
      [...found, findStream(path)?.name],
      [isAt('GET'), isAt('PUT'), undefined, undefined, 'stream' in route ? name : undefined],
    );
  });
}

test('what is longer than any path is not looked at', () => {
  assert.equal(findRequest('GET', `/v1/runs/${'/'.repeat(1024 * 1024)}`), undefined);
  assert.equal(findStream('x'.repeat(1024 * 1024)), undefined);
});
