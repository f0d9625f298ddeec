import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '../../api/core/node.ts';
import { decideContainerDisks } from './decide-container-disks.ts';

function node(containerRuntimeVersion: string): Node {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, status: { nodeInfo: { containerRuntimeVersion } } } as unknown as Node;
}

for (const [gitVersion, runtimes, expected] of [
  ['v1.34.4', ['containerd://2.1.4'], 'container'],
  ['v1.35.0', ['containerd://2.1.4', 'cri-o://1.31.0'], 'image-volume'],
  ['v1.36.1-gke.1', ['containerd://2.2.0'], 'image-volume'],
  ['v1.35.0', ['containerd://2.1.4', 'containerd://1.7.20'], 'container'],
  ['v1.35.0', ['docker://28.0.0'], 'container'],
  ['unknown', [], 'container'],
] as const) {
  test(`Kubernetes ${gitVersion} with ${runtimes.join(' and ') || 'no node'}: ${expected}`, () => {
    assert.equal(decideContainerDisks({ gitVersion, nodes: runtimes.map(node) }).way, expected);
  });
}
