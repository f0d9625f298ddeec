import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leadsOut } from './host-routes.ts';

const HEAD = 'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n';
const OWN = 'eth0\t0001A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n';
const OUT = 'eth0\t00000000\t0101A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n';

test('a way to everywhere is a network, one to the neighbours is none', () => {
  assert.deepEqual([HEAD, HEAD + OWN, HEAD + OWN + OUT].map(leadsOut), [false, false, true]);
});
