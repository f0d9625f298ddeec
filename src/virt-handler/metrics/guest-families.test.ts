import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MetricFamilies } from '../../base/metrics.ts';
import { renderMetrics } from '../../base/node/metrics-page.ts';
import { vmi } from '../../testing/builders.ts';
import { addGuestFamilies } from './guest-families.ts';
import type { GuestFigures } from './guest-figures.ts';

const FIGURES: GuestFigures = {
  atMs: 0,
  process: { userSeconds: 1.5, systemSeconds: 0.25, residentBytes: 4096 },
  balloonBytes: 128 * 2 ** 20,
  memory: { usableBytes: 7, swapInBytes: 0 },
  disks: [
    {
      disk: 'root',
      readBytes: 512,
      writtenBytes: 0,
      reads: 1,
      writes: 0,
      flushes: 0,
      readNanoseconds: 2_000_000,
      writeNanoseconds: 0,
      flushNanoseconds: 0,
    },
  ],
  networks: [],
  vcpus: [{ id: 0, state: 'running', seconds: 1.25, delaySeconds: 0.5 }],
  fileSystems: [{ diskName: 'vda1', mountPoint: '/srv "a"', fileSystemType: 'ext4', usedBytes: 3, totalBytes: 9 }],
};

async function page(figures: GuestFigures): Promise<string> {
  const metrics = new MetricFamilies();
  const measured = async () => [{ vmi: vmi('Running'), figures }];
  addGuestFamilies({ metrics, nodeName: 'n1', figures: measured, signal: new AbortController().signal });
  return (await renderMetrics(metrics)).text;
}

test('a guest has the names, labels and units that KubeVirt publishes', async () => {
  const text = await page(FIGURES);
  const labels = 'node="n1",namespace="default",name="db"';
  for (const line of [
    `kubevirt_vmi_cpu_usage_seconds_total{${labels}} 1.75`,
    `kubevirt_vmi_memory_resident_bytes{${labels}} 4096`,
    `kubevirt_vmi_memory_domain_bytes{${labels}} 134217728`,
    `kubevirt_vmi_memory_actual_balloon_bytes{${labels}} 134217728`,
    `kubevirt_vmi_memory_usable_bytes{${labels}} 7`,
    `kubevirt_vmi_vcpu_seconds_total{${labels},id="0",state="running"} 1.25`,
    `kubevirt_vmi_vcpu_delay_seconds_total{${labels},id="0"} 0.5`,
    `kubevirt_vmi_filesystem_capacity_bytes{${labels},disk_name="vda1",mount_point="/srv \\"a\\"",file_system_type="ext4"} 9`,
    `kubevirt_vmi_filesystem_used_bytes{${labels},disk_name="vda1",mount_point="/srv \\"a\\"",file_system_type="ext4"} 3`,
    `kubevirt_vmi_storage_read_traffic_bytes_total{${labels},drive="root"} 512`,
    `kubevirt_vmi_storage_read_times_seconds_total{${labels},drive="root"} 0.002`,
  ])
    assert.ok(text.includes(`\n${line}\n`), line);
});

test('what is not known is not shown, instead of being zero', async () => {
  const text = await page({ atMs: 0, memory: {}, disks: [], networks: [], vcpus: [], fileSystems: [] });
  const shown = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  assert.deepEqual(shown, ['kubevirt_vmi_memory_domain_bytes{node="n1",namespace="default",name="db"} 134217728']);
});
