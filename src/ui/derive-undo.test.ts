import assert from 'node:assert/strict';
import { test } from 'node:test';
import { vm, vmi } from '../testing/builders.ts';
import { deriveMachines } from './derive-machines.ts';
import { deriveUndo } from './derive-undo.ts';

const at = (machine: object, printableStatus: string) => ({ ...machine, status: { printableStatus } }) as ReturnType<typeof vm>;
const MAY = new Map();

test('what was stopped can be started again when it has stopped, not before, and by whoever may', () => {
  const stopping = deriveMachines([at(vm('Halted'), 'Stopping')], [vmi('Running', { nodeName: 'n1' })]);
  const stopped = deriveMachines([at(vm('Halted'), 'Stopped')], []);
  const [{ name, namespace } = assert.fail('there is one')] = stopped;
  assert.deepEqual([deriveUndo(stopped, MAY)?.text, deriveUndo(stopped, MAY)?.refusal], [`${name} was stopped.`, undefined]);
  assert.match(deriveUndo(stopping, MAY)?.refusal ?? '', /running|stopping/);
  assert.match(deriveUndo(stopped, new Map([[namespace, new Set(['start'] as const)]]))?.refusal ?? '', /you may not start/);
});

test('nothing is offered for what is gone or runs again', () => {
  const running = deriveMachines([at(vm('Always'), 'Running')], [vmi('Running', { nodeName: 'n1' })]);
  assert.deepEqual([deriveUndo([], MAY), deriveUndo(running, MAY)], [undefined, undefined]);
});
