import assert from 'node:assert/strict';
import { test } from 'node:test';
import { STAND_IN, standInFor } from './stand-ins.ts';

const CASES: [reference: string, standIn: string | undefined][] = [
  ['kubevirt/cirros-container-disk-demo:latest', STAND_IN],
  ['kubevirt/cirros-container-disk-demo', STAND_IN],
  ['docker.io/kubevirt/cirros-registry-disk-demo:latest', STAND_IN],
  ['kubevirt/cirros-container-disk-demo:v1.2.3', undefined],
  ['quay.io/kubevirt/cirros-container-disk-demo:latest', undefined],
  [`kubevirt/cirros-container-disk-demo@sha256:${'0'.repeat(64)}`, undefined],
  ['nginx', undefined],
  ['no name', undefined],
];
for (const [reference, expected] of CASES) test(`${reference}: ${expected}`, () => assert.equal(standInFor(reference), expected));
