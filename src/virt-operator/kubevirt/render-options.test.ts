import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeVirt } from '../../api/kubevirt/kinds/kubevirt.ts';
import { renderOptionsFrom } from './render-options.ts';

function images(spec: KubeVirt['spec'], image = 'host:5000/kv/kubevirt:v2', launcherImage?: string) {
  const kubeVirt: KubeVirt = { apiVersion: 'kubevirt.io/v1', kind: 'KubeVirt', metadata: { name: 'kubevirt' }, spec };
  return renderOptionsFrom(kubeVirt, { namespace: 'kubevirt', version: 'v2', image, launcherImage }).images;
}

test('images are those of the release that the operator is of', () => {
  assert.deepEqual(images({}), {
    components: 'host:5000/kv/kubevirt:v2',
    launcher: 'host:5000/kv/virt-launcher:v2',
    importer: 'host:5000/kv/virt-importer:v2',
    tools: 'host:5000/kv/libguestfs-tools:v2',
  });
});

test('an operator by digest says which launcher belongs to it', () => {
  assert.deepEqual(images({}, 'r/kubevirt@sha256:1', 'r/virt-launcher@sha256:2'), {
    components: 'r/kubevirt@sha256:1',
    launcher: 'r/virt-launcher@sha256:2',
    importer: 'r/virt-importer:latest',
    tools: 'r/libguestfs-tools:latest',
  });
});

test('the KubeVirt object may name another registry or tag', () => {
  assert.deepEqual(images({ imageTag: 'v3' }), {
    components: 'host:5000/kv/kubevirt:v3',
    launcher: 'host:5000/kv/virt-launcher:v3',
    importer: 'host:5000/kv/virt-importer:v3',
    tools: 'host:5000/kv/libguestfs-tools:v3',
  });
  assert.deepEqual(images({ imageRegistry: 'other' }), {
    components: 'other/kubevirt:v2',
    launcher: 'other/virt-launcher:v2',
    importer: 'other/virt-importer:v2',
    tools: 'other/libguestfs-tools:v2',
  });
});
