import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kubernetesProblem } from './supported-kubernetes.ts';

for (const version of ['v1.28.0', 'v1.34.4', 'v1.31.2+k3s1', 'v2.0.0'])
  test(`${version} is supported`, () => assert.equal(kubernetesProblem(version), undefined));

for (const version of ['v1.27.9', 'v0.9.0', 'unknown'])
  test(`${version} is not, and the answer says which is`, () => assert.match(kubernetesProblem(version) ?? '', /1\.28 is the oldest/));
