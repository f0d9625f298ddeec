import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { vmi } from '../testing/builders.ts';
import { searchDomains } from './search-domains.ts';

const OWN = vmi('Running');

test('in the embedded cluster Services come first, then machines', () => {
  assert.deepEqual(searchDomains(OWN, { KUBEVIRT_CLUSTER_DNS: 'embedded' }), [
    'default.svc.cluster.local',
    'svc.cluster.local',
    'cluster.local',
    'default.vm.cluster.local',
    'vm.cluster.local',
  ]);
  const [first] = searchDomains({ ...OWN, spec: { ...OWN.spec, subdomain: 'db' } }, { KUBEVIRT_CLUSTER_DNS: 'embedded' });
  assert.equal(first, 'db.default.svc.cluster.local');
});

test('elsewhere they are those of the Pod, as far as DHCP can carry them', () => {
  const folder = mkdtempSync(join(tmpdir(), 'search-'));
  const path = join(folder, 'resolv.conf');
  const found = (text: string) => {
    writeFileSync(path, text);
    return searchDomains(OWN, {}, path);
  };
  assert.deepEqual(found('nameserver 10.96.0.10\nsearch a.example\nsearch  ns.svc.example example\n'), ['ns.svc.example', 'example']);
  assert.deepEqual(found('search ok -no- x..y ,\n'), ['ok']);
  assert.equal(found(`search ${'a'.repeat(60)} ${Array.from({ length: 99 }, (_, i) => `d${i}`).join(' ')}`).length, 16);
  assert.deepEqual([found(''), searchDomains(OWN, {}, join(folder, 'none'))], [[], []]);
  rmSync(folder, { recursive: true });
});
