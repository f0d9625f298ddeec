import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VmiSpec } from '../../../api/kubevirt/vmi-spec-schema.ts';
import { validateProbes } from './validate-probes.ts';

test('a probe of a machine has no other host asked', () => {
  for (const name of ['livenessProbe', 'readinessProbe'])
    for (const handler of ['httpGet', 'tcpSocket']) {
      const spec = { domain: { devices: {} }, [name]: { [handler]: { port: 80, host: '169.254.169.254' } } } as VmiSpec; // one of them
      assert.deepEqual(
        validateProbes(spec, 'spec').map(({ field }) => field),
        [`spec.${name}.${handler}.host`],
      );
    }
});
