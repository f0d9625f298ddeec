import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GuestPanics } from './guest-panics.ts';

test('panics are counted by machine, and by the code that Windows tells', async () => {
  const panics = new GuestPanics();
  panics.observe('default/db', { action: 'pause' });
  panics.observe('default/db', { action: 'pause' });
  panics.observe('default/win', { action: 'pause', info: { type: 'hyper-v', arg1: 0x7b, arg2: 0 } });
  panics.observe('default/win', { action: 'pause', info: { type: 'hyper-v', arg1: 'nonsense' } });
  assert.deepEqual(await panics.family.samples(), [
    { labels: { namespace: 'default', name: 'db', type: 'pvpanic', bugcheck_code: 'unknown' }, value: 2 },
    { labels: { namespace: 'default', name: 'win', type: 'hyperv', bugcheck_code: '0x7b' }, value: 1 },
    { labels: { namespace: 'default', name: 'win', type: 'hyperv', bugcheck_code: 'unknown' }, value: 1 },
  ]);
});
