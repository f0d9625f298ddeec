import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service } from '../api/core/service.ts';
import { decidePorts } from './decide-ports.ts';
import { vmctlPod } from './pod.testing.ts';

function service(ports: Service['spec']['ports'], selector: Record<string, string> = { app: 'vmctl' }, namespace = 'default'): Service {
  return { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', namespace }, spec: { selector, ports } };
}

test('the target ports of Services that select the Pod are passed on, each once', () => {
  const services = [
    service([
      { port: 80, targetPort: 80 },
      { name: 'api', port: 81, targetPort: 'http' },
    ]),
    service([{ port: 22 }, { name: 'other', port: 8080 }]),
  ];
  assert.deepEqual(decidePorts(vmctlPod(), services), [22, 80, 8080]);
});

test('other Services, names that the Pod has not, and other protocols are not', () => {
  const services = [
    service([{ port: 80 }], { app: 'testvm' }),
    service([{ port: 81 }], {}),
    service([{ port: 82 }], { app: 'vmctl' }, 'other'),
    service([
      { port: 83, targetPort: 'ssh' },
      { name: 'dns', port: 53, protocol: 'UDP' },
    ]),
  ];
  assert.deepEqual(decidePorts(vmctlPod(), services), []);
});
