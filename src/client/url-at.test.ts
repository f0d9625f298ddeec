import assert from 'node:assert/strict';
import { test } from 'node:test';
import { urlAt } from './url-at.ts';

const CASES: [server: string, path: string, url: string][] = [
  ['https://gate', '/api/v1?watch=true', 'https://gate/api/v1?watch=true'],
  ['https://gate:6443/', '/api', 'https://gate:6443/api'],
  ['https://gate/k8s/clusters/c-1', '/api/v1/pods?limit=1', 'https://gate/k8s/clusters/c-1/api/v1/pods?limit=1'],
  ['https://gate/k8s/clusters/c-1/', '/api', 'https://gate/k8s/clusters/c-1/api'],
  ['https://gate/k8s', '/api/../../../v3', 'https://gate/k8s/v3'],
  ['https://gate/k8s', '//elsewhere/api', 'https://gate/k8s//elsewhere/api'],
  ['wss://[::1]:1/k8s', '/a%20b', 'wss://[::1]:1/k8s/a%20b'],
];
for (const [server, path, url] of CASES) test(`${path} of ${server} is ${url}`, () => assert.equal(urlAt(server, path).href, url));
