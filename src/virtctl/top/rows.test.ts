import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Usage } from '../../api/handler/answers.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { usageRows } from './rows.ts';

const vmi = (name: string) =>
  ({
    metadata: { name, namespace: 'default' },
    spec: { domain: { memory: { guest: '128Mi' }, cpu: { cores: 2 }, devices: {} } },
    status: { phase: 'Running', nodeName: 'n1' },
  }) as unknown as VirtualMachineInstance; // what the rows are made of
const used = (cpuSeconds: number, atMs: number): Usage => ({ cpuSeconds, memoryBytes: 100 * 2 ** 20, atMs });

test('the busiest is first, in thousandths of a processor; who was not measured is last', () => {
  const rows = usageRows(
    [
      { vmi: vmi('unseen') },
      { vmi: vmi('idle'), first: used(1, 0), second: used(1.02, 2000) },
      { vmi: vmi('busy'), first: used(1, 0), second: used(4, 2000) },
    ],
    false,
  );
  assert.deepEqual(rows, [
    ['NAME', 'CPU(cores)', 'CPUS', 'MEMORY(bytes)', 'GUEST', 'NODE'],
    ['busy', '1500m', '2', '100Mi', '128Mi', 'n1'],
    ['idle', '10m', '2', '100Mi', '128Mi', 'n1'],
    ['unseen', '-', '2', '-', '128Mi', 'n1'],
  ]);
});

test('a guest that started anew in between has no rate yet', () => {
  const [, row] = usageRows([{ vmi: vmi('anew'), first: used(9, 0), second: used(1, 1000) }], true);
  assert.deepEqual(row, ['default', 'anew', '-', '2', '100Mi', '128Mi', 'n1']);
});
