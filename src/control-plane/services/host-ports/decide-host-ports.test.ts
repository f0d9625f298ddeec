import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service } from '../../../api/core/service.ts';
import { explain } from '../../../reconcile/decision.ts';
import { decideHostAddresses, hostPortsFor } from './decide-host-ports.ts';
import type { HostPortState } from './messages.ts';

const OPTIONS = { hasClusterAddresses: true, nodeAddress: '127.0.0.1' };
const KEY = 'TCP 127.0.0.1:30080';

function service(said?: string, type = 'NodePort'): Service {
  const annotations: Record<string, string> = said === undefined ? {} : { 'kubevirt.io/host-addresses': said };
  const ports = [{ port: 80, ...(type === 'NodePort' && { nodePort: 30_080 }) }];
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'default', annotations },
    spec: { type, clusterIP: '10.96.1.1', ports },
  };
}

const CASES: [fact: string, service: Service, state: Omit<HostPortState, 'key'> | undefined, expected: string[]][] = [
  ['before it is known', service('80:30080/TCP=127.0.0.1:30080'), undefined, []],
  ['under its own number', service(), { port: 30_080 }, ['patch Service default/web: the host reaches it at 80:30080/TCP=127.0.0.1:30080']],
  ['as it says already', service('80:30080/TCP=127.0.0.1:30080'), { port: 30_080 }, []],
  [
    'under another number',
    service(),
    { port: 30_081 },
    ['patch Service default/web: the host reaches it at 80:30080/TCP=127.0.0.1:30081', 'record event NodePortTaken: the NodePort is taken'],
  ],
  [
    'nowhere',
    service('80:30080/TCP=127.0.0.1:30080'),
    { why: 'EADDRINUSE' },
    ['patch Service default/web: no port of the host leads here', 'record event NodePortTaken: the NodePort is taken'],
  ],
  [
    'no NodePort any more',
    service('80:30080/TCP=127.0.0.1:30080', 'ClusterIP'),
    undefined,
    ['patch Service default/web: no port of the host leads here'],
  ],
];
for (const [fact, own, state, expected] of CASES) {
  test(`a Service that is served ${fact}`, () => {
    const stateOf = (key: string) => (state && key === KEY ? { key, ...state } : undefined);
    assert.deepEqual(explain(decideHostAddresses({ service: own, options: OPTIONS, stateOf })), expected);
  });
}

test('the number that it had is wanted first, then its own, then the next ones of the range', () => {
  const portsOf = (said?: string) => hostPortsFor([service(said)], OPTIONS).map(({ key, ports }) => [key, ports.slice(0, 3)]);
  assert.deepEqual(portsOf(), [[KEY, [30_080, 30_081, 30_082]]]);
  assert.deepEqual(portsOf('80:30080/TCP=127.0.0.1:30085'), [[KEY, [30_085, 30_080, 30_081]]]);
  assert.deepEqual(portsOf('80:30085/TCP=127.0.0.1:30085'), [[KEY, [30_080, 30_081, 30_082]]], 'that was for another NodePort');
  assert.deepEqual(portsOf('80:30080/TCP=127.0.0.1:22'), [[KEY, [30_080, 30_081, 30_082]]], 'no port beyond the range is taken');
});

test('a port that an administrator chose is wanted first, and said when another program has it', () => {
  const chosen = (port: string, said?: string): Service => {
    const plain = service(said);
    return { ...plain, metadata: { ...plain.metadata, annotations: { ...plain.metadata.annotations, 'kubevirt.io/host-port': port } } };
  };
  const first = (own: Service) => hostPortsFor([own], OPTIONS).map(({ ports, chosen }) => [ports.slice(0, 2), chosen]);
  assert.deepEqual(first(chosen('8080')), [[[8080, 30_080], 8080]]);
  assert.deepEqual(first(chosen('8080', '80:30080/TCP=127.0.0.1:8080')), [[[8080, 30_080], 8080]], 'also after a restart');
  for (const port of ['0', '65536', '080', 'http', '8080,22', ''])
    assert.deepEqual(first(chosen(port)), [[[30_080, 30_081], undefined]], port);
  const served = (port: number) =>
    explain(decideHostAddresses({ service: chosen('8080'), options: OPTIONS, stateOf: (key) => ({ key, port }) }));
  assert.deepEqual(served(8080), ['patch Service default/web: the host reaches it at 80:30080/TCP=127.0.0.1:8080']);
  assert.equal(served(30_080)[1], 'record event NodePortTaken: the NodePort is taken');
});
