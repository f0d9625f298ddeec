import assert from 'node:assert/strict';
import { test } from 'node:test';
import { progressOf, type Transfer } from './transfer-progress.ts';

const MIB = 2 ** 20;
const CASES: [Transfer, string][] = [
  [{ doneBytes: 10 * MIB, totalBytes: 40 * MIB }, '25 % · 10 of 40 MiB'],
  [{ doneBytes: 10 * MIB, totalBytes: 40 * MIB, elapsedMs: 5000 }, '25 % · 10 of 40 MiB · 2.0 MiB/s · 15 s left'],
  [{ doneBytes: 30 * MIB, totalBytes: 40 * MIB, elapsedMs: 5000, resumedBytes: 20 * MIB }, '75 % · 30 of 40 MiB · 2.0 MiB/s · 5 s left'],
  [{ doneBytes: 10 * MIB, totalBytes: 1000 * MIB, elapsedMs: 5000 }, '1 % · 10 of 1000 MiB · 2.0 MiB/s · 9 min left'],
  [{ doneBytes: 10 * MIB, totalBytes: undefined, elapsedMs: 5000 }, '10 MiB · 2.0 MiB/s'],
  [{ doneBytes: 0, totalBytes: 0 }, '0 of 0 MiB'],
];
for (const [transfer, expected] of CASES) test(expected, () => assert.equal(progressOf(transfer), expected));
