/** The table of manifests has every field of an instance that the page about compatibility calls honoured. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { isObject } from '../../src/base/json.ts';
import { FEATURES, manifestOf } from '../e2e/published-features.ts';

/** Honoured, and in no manifest of the table, because of what they need. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'domain.devices.filesystems': 'needs a feature gate, which is on embedded alone; shell.test.ts has them',
  'domain.devices.filesystems[].name': 'as well',
  'domain.devices.filesystems[].virtiofs': 'as well',
  'domain.devices.disks[].lun': 'needs a PVC on a SCSI device of the node; disks.test.ts has one',
  'domain.devices.disks[].lun.bus': 'as well',
  'domain.devices.disks[].lun.readonly': 'as well',
  'domain.devices.interfaces[].bridge': 'taken embedded alone; a cluster refuses it with the reason',
  'volumes[].dataVolume.hotpluggable': 'comes to a guest that runs, as a PVC does',
  'volumes[].persistentVolumeClaim.hotpluggable': 'as well; hotplug.test.ts has one',
  'volumes[].hostDisk': 'needs a feature gate and a folder of the node; pod-rights.test.ts has one',
  'volumes[].hostDisk.capacity': 'as well',
  'volumes[].hostDisk.path': 'as well',
  'volumes[].hostDisk.shared': 'as well',
  'volumes[].hostDisk.type': 'as well',
  'volumes[].memoryDump': 'put in by the subresource memorydump; suspend.test.ts has one',
  'volumes[].memoryDump.claimName': 'as well',
  'volumes[].memoryDump.hotpluggable': 'as well',
  'volumes[].memoryDump.readOnly': 'as well',
  priorityClassName: 'needs a class of the cluster; pod-rights.test.ts has one',
};

test('every honoured field of an instance is in a manifest of the table', () => {
  const page = readFileSync('docs/compatibility.md', 'utf8');
  const [, section = ''] = page.split('\n## VirtualMachineInstance spec\n');
  const [table = ''] = section.split('\n## ');
  const honoured = [...table.matchAll(/^\| `([^`]+)` \| [^|]*\| honoured/gm)].map(([, path = '']) => path);
  assert.ok(honoured.length > 200, `only ${honoured.length} fields were found on the page`);
  const set = new Set(FEATURES.flatMap((feature) => pathsOf((manifestOf(feature) as { spec: object }).spec)));
  assert.deepEqual(
    honoured.filter((path) => !set.has(path) && !(path in ELSEWHERE)),
    [],
  );
});

/** As the page writes them: `domain.devices.disks[].name`. */
function pathsOf(value: unknown, at = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => pathsOf(item, `${at}[]`));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const path = at === '' ? name : `${at}.${name}`;
    return [path, ...pathsOf(inner, path)];
  });
}
