import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { describe, test } from 'node:test';
import { VERSION } from '../../cmd/version.ts';
import { type ImageFlags, kubeVirtFrom, readOperator, withImages } from './operator-manifest.ts';

function container(flags: ImageFlags) {
  const objects = readOperator(resolve(import.meta.dirname, '../../../deploy')).map((object) => withImages(object, flags));
  const { spec } = (
    objects.find(({ kind }) => kind === 'Deployment') as never as { spec: { template: { spec: { containers: object[] } } } }
  ).spec.template;
  const { image, env, imagePullPolicy } = spec.containers[0] as Record<string, unknown>;
  return { image, env, imagePullPolicy };
}

describe('the manifest of the operator', () => {
  test('is that of the release unless somebody says otherwise', () => {
    const image = `kubevirt-ts/kubevirt:${VERSION}`;
    assert.deepEqual(container({}), { image, env: [{ name: 'VIRT_OPERATOR_IMAGE', value: image }], imagePullPolicy: 'IfNotPresent' });
  });

  test('takes another registry, tag and policy, and tells the operator', () => {
    const image = 'host:5000/kv/kubevirt:v9';
    assert.deepEqual(container({ registry: 'host:5000/kv/', tag: 'v9', imagePullPolicy: 'Always' }), {
      image,
      env: [{ name: 'VIRT_OPERATOR_IMAGE', value: image }],
      imagePullPolicy: 'Always',
    });
  });

  test('the KubeVirt object says only what somebody asked for', () => {
    assert.deepEqual(kubeVirtFrom({}).spec, {});
    assert.deepEqual(kubeVirtFrom({ imagePullPolicy: 'Never', imagePullSecret: 's' }).spec, {
      imagePullPolicy: 'Never',
      imagePullSecrets: [{ name: 's' }],
    });
  });
});
