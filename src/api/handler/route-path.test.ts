import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isApiError } from '../../base/errors.ts';
import { buildRoutePath, matchRoutePath, type RouteParameters } from './route-path.ts';
import { HANDLER_ROUTES } from './routes.ts';

const ALL: RouteParameters = { namespace: 'default', name: 'db.prod-1', port: 65_535, protocol: 'udp', uid: 'A1-b2' };
const TEMPLATES: readonly string[] = Object.values(HANDLER_ROUTES).map(({ path }) => path);
const PORT = HANDLER_ROUTES.portforward.path;

/** The names of the routes whose path this is. */
function routesAt(path: string): string[] {
  return Object.entries(HANDLER_ROUTES).flatMap(([name, route]) => (matchRoutePath<string>(route.path, path) ? [name] : []));
}

describe('the paths of virt-handler', () => {
  for (const [name, { path }] of Object.entries(HANDLER_ROUTES)) {
    test(`${name}: what was written is read as the same, and by this route alone`, () => {
      const written = buildRoutePath<string>(path, ALL);
      const parameters = path.split('/').flatMap((segment) => (segment.startsWith(':') ? [segment.slice(1)] : []));
      const expected = Object.fromEntries(Object.entries(ALL).filter(([each]) => parameters.includes(each)));
      assert.deepEqual(matchRoutePath<string>(path, written), expected);
      assert.deepEqual(routesAt(written), [name]);
    });
  }

  test('of a table entry every parameter has a grammar', () => {
    const used = TEMPLATES.flatMap((path) => path.split('/').filter((segment) => segment.startsWith(':')));
    assert.deepEqual(
      [...new Set(used)].filter((each) => !Object.hasOwn(ALL, each.slice(1))),
      [],
    );
  });

  const guest = (namespace: string, name: string, rest = 'pause') => `/v1/namespaces/${namespace}/virtualmachineinstances/${name}/${rest}`;
  const HOSTILE: readonly (readonly [name: string, path: string])[] = [
    ['an encoded slash', guest('default', 'db%2Fpause')],
    ['an encoded dot', guest('default', '%2e%2e')],
    ['two dots for a name', guest('default', '..')],
    ['a dot for a name', guest('default', '.')],
    ['a name that starts with a dot', guest('default', '.db')],
    ['a name that ends with a dash', guest('default', 'db-')],
    ['two dots for a namespace', guest('..', 'db')],
    ['a namespace with a dot', guest('a.b', 'db')],
    ['no name', guest('default', '')],
    ['capitals', guest('default', 'DB')],
    ['a line feed at the end', guest('default', 'db', 'pause\n')],
    ['a name with a line feed', guest('default', 'db\n')],
    ['a space', guest('default', 'd b')],
    ['a NUL', guest('default', 'd\0b')],
    ['a namespace that is too long', guest('n'.repeat(64), 'db')],
    ['a name that is too long', guest('default', 'n'.repeat(254))],
    ['a megabyte', guest('default', 'n'.repeat(1024 * 1024))],
    ['a million segments', '/'.repeat(1024 * 1024)],
    ['another question', guest('default', 'db', 'constructor')],
    ['the name of a parameter', guest(':namespace', ':name')],
    ['a segment more', guest('default', 'db', 'pause/')],
    ['a segment before', `/${guest('default', 'db')}`],
    ['port 0', guest('default', 'db', 'portforward/0/tcp')],
    ['a port with a zero before it', guest('default', 'db', 'portforward/080/tcp')],
    ['a port above the last', guest('default', 'db', 'portforward/65536/tcp')],
    ['a port with a sign', guest('default', 'db', 'portforward/+80/tcp')],
    ['another protocol', guest('default', 'db', 'portforward/80/sctp')],
    ['a port without a protocol', guest('default', 'db', 'portforward/80')],
    ['a uid that is a folder', '/v1/runs/..'],
    ['a uid that starts with a dash', '/v1/runs/-rf'],
    ['a uid that is too long', `/v1/runs/${'a'.repeat(129)}`],
    ['no uid', '/v1/runs/'],
    ['nothing', ''],
    ['the root', '/'],
  ];
  for (const [name, path] of HOSTILE) {
    test(`${name} is no path`, () => assert.deepEqual(routesAt(path), []));
  }

  const UNWRITABLE: readonly (readonly [name: string, parameters: Partial<Record<keyof RouteParameters, unknown>>])[] = [
    ['two dots', { name: '..' }],
    ['a slash', { name: 'a/b' }],
    ['a question mark', { namespace: 'a?b' }],
    ['nothing', { name: '' }],
    ['a port that is none', { port: 65_536 }],
    ['part of a port', { port: 1.5 }],
    ['something that is missing', { protocol: undefined }],
  ];
  for (const [name, wrong] of UNWRITABLE) {
    test(`${name} is not written into a path`, () => {
      const parameters = { ...ALL, ...wrong } as RouteParameters; // as only a mistake would have it
      assert.throws(
        () => buildRoutePath(PORT, parameters),
        (error) => isApiError(error, 'BadRequest'),
      );
    });
  }
});
