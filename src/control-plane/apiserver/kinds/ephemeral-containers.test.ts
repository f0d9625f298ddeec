import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EphemeralContainer, Pod, PodSpec } from '../../../api/core/pod.ts';
import { causeText } from '../../../base/causes.ts';
import { startTestServer } from '../test-server.testing.ts';
import { ephemeralCauses } from './ephemeral-containers.ts';

const shell: EphemeralContainer = { name: 'shell', image: 'busybox' };

function pod(ephemeralContainers: readonly EphemeralContainer[], more: Partial<PodSpec> = {}, annotations = {}): Pod {
  const containers = [{ name: 'main', image: 'nothing:1' }];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'default', annotations },
    spec: { containers, ephemeralContainers, ...more },
  };
}

const launcher = { containers: [{ name: 'compute', image: 'example.com/virt-launcher:v1' }] };
const AT = 'spec.ephemeralContainers';
const cases: [string, Pod, Pod, RegExp[]][] = [
  ['one is added', pod([shell]), pod([]), []],
  ['one is there and another is added', pod([shell, { ...shell, name: 'next' }]), pod([shell]), []],
  ['a target', pod([{ ...shell, targetContainerName: 'main' }]), pod([]), []],
  ['a target that is not there', pod([{ ...shell, targetContainerName: 'x' }]), pod([]), [/\[0\]\.targetContainerName: Not found: "x"/]],
  ['one is removed', pod([]), pod([shell]), [/existing ephemeral containers "shell" may not be removed/]],
  ['one is changed', pod([{ ...shell, tty: true }]), pod([shell]), [/existing ephemeral containers "shell" may not be changed/]],
  ['a name that another has', pod([{ ...shell, name: 'main' }]), pod([]), [/\[0\]\.name: Duplicate value: "main"/]],
  ['a name that is none', pod([{ ...shell, name: '../x' }]), pod([]), [/\[0\]\.name: Invalid value: "..\/x"/]],
  ['no image', pod([{ name: 'shell' }]), pod([]), [/\[0\]\.image: Required value/]],
  [
    'ports',
    pod([{ ...shell, ports: [{ containerPort: 1 }] }]),
    pod([]),
    [/\[0\]\.ports: Forbidden: cannot be set for an Ephemeral Container/],
  ],
  ['resources', pod([{ ...shell, resources: { limits: { cpu: '1' } } }]), pod([]), [/\[0\]\.resources: Forbidden/]],
  ['a launcher', pod([shell], launcher), pod([], launcher), [/: Forbidden: a launcher Pod is the QEMU of a machine.*`virtctl console`/]],
  [
    'a mirror Pod',
    pod([shell], {}, { 'kubernetes.io/config.mirror': 'x' }),
    pod([]),
    [/: Forbidden: static pods do not support ephemeral containers/],
  ],
];

describe('ephemeral containers', () => {
  for (const [name, after, before, expected] of cases) {
    test(name, () => {
      const texts = ephemeralCauses(after, before).map(causeText);
      assert.equal(texts.length, expected.length, texts.join('\n'));
      for (const [index, pattern] of expected.entries()) assert.match(texts[index] ?? '', pattern);
      assert.ok(texts.every((text) => text.startsWith(AT)));
    });
  }
});

test('by their subresource alone, which changes nothing else, and by nobody who may not', async (t) => {
  const { fetch, close } = await startTestServer();
  t.after(close);
  const at = '/api/v1/namespaces/default/pods/web';
  const send = async (method: string, path: string, body: object, type = 'application/strategic-merge-patch+json') => {
    const response = await fetch(path, { method, body: JSON.stringify(body), headers: { 'content-type': type } });
    return { code: response.status, body: (await response.json()) as Pod & { message?: string } };
  };
  const refused = await send('POST', '/api/v1/namespaces/default/pods', pod([shell]), 'application/json');
  assert.match(refused.body.message ?? '', /spec\.ephemeralContainers: Forbidden: cannot be set on create/);
  assert.equal((await send('POST', '/api/v1/namespaces/default/pods', pod([]), 'application/json')).code, 201);
  assert.match(
    (await send('PATCH', at, { spec: { ephemeralContainers: [shell] } })).body.message ?? '',
    /pod updates may not change fields/,
  );
  const added = await send('PATCH', `${at}/ephemeralcontainers`, {
    spec: { ephemeralContainers: [shell], containers: [{ name: 'main', image: 'other:1' }] },
  });
  assert.equal(added.code, 200, added.body.message);
  assert.equal(added.body.spec.containers[0]?.image, 'nothing:1');
  assert.equal(added.body.spec.ephemeralContainers?.[0]?.terminationMessagePolicy, 'File');
  assert.equal(added.body.metadata.generation, 2);
});
