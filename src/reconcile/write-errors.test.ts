import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VMIS } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { ApiError } from '../base/errors.ts';
import type { Client } from '../client/client.ts';
import { vmi } from '../testing/builders.ts';
import { rememberWriteErrors } from './write-errors.ts';

/** What is remembered after each of these refusals of a create. */
async function remembered(
  refusals: readonly string[],
  metadata: { name?: string; generateName?: string },
): Promise<(string | undefined)[]> {
  const left = [...refusals];
  const create = () => Promise.reject(new ApiError('Forbidden', left.shift() ?? ''));
  const { client, createErrors } = rememberWriteErrors({
    client: { create } as unknown as Client, // nothing else is called
    kind: 'VirtualMachineInstance',
    keyOf: () => 'default/web',
  });
  const told: (string | undefined)[] = [];
  for (const _ of refusals) {
    const object = vmi('Pending');
    await client.create(VMIS, { ...object, metadata: { ...object.metadata, ...metadata } }).catch(() => {});
    told.push(createErrors.get('default/web'));
  }
  return told;
}

test('another refusal is told', async () => {
  assert.deepEqual(await remembered(['no room', 'no rights'], { name: 'web' }), ['no room', 'no rights']);
});

test('a refusal that only counts on is the same one: telling it anew would be a write that wakes us for the next try', async () => {
  const refusals = ['quota: used 5 of 5, at 10:00:01', 'quota: used 6 of 5, at 10:00:02'];
  assert.deepEqual(await remembered(refusals, { name: 'web' }), [refusals[0], refusals[0]]);
});

test('a name that was made up for one try is not told', async () => {
  const refusals = ['"web-bcdfg" is refused', '"web-hjklm" is refused'];
  assert.deepEqual(await remembered(refusals, { name: '', generateName: 'web-' }), ['"web-*" is refused', '"web-*" is refused']);
});
