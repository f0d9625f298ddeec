import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { type Kubeconfig, mergeKubeconfig, withoutOurContext } from './merge-kubeconfig.ts';

const ours = (port: number): Kubeconfig => ({
  'current-context': 'kubevirt-ts',
  clusters: [{ name: 'kubevirt-ts', cluster: { server: `https://127.0.0.1:${port}` } }],
  contexts: [{ name: 'kubevirt-ts', context: { cluster: 'kubevirt-ts', user: 'kubernetes-admin', namespace: 'default' } }],
  users: [{ name: 'kubernetes-admin', user: { 'client-key-data': 'KEY' } }],
});
const THEIRS = `apiVersion: v1
kind: Config
current-context: work # by hand
clusters:
- {name: work, cluster: {server: "https://work.example"}}
users:
- {name: kubernetes-admin, user: {token: secret}}
contexts:
- {name: work, context: {cluster: work, user: kubernetes-admin}}
`;

test('without a file ours is the whole of it, and current', () => {
  const { text, isCurrent } = mergeKubeconfig('', ours(6443), '/home/a');
  const { clusters, users, contexts, ...rest } = parse(text);
  assert.deepEqual(rest, { apiVersion: 'v1', kind: 'Config', 'current-context': 'kubevirt-ts' });
  assert.equal(clusters[0].cluster.server, 'https://127.0.0.1:6443');
  assert.deepEqual([users[0].name, contexts[0].context.user, isCurrent], ['kubevirt-ts', 'kubevirt-ts', true]);
});

test('what is there stays, with its comments, its users of the same name and its current context', () => {
  const { text, isCurrent } = mergeKubeconfig(THEIRS, ours(6443), '/home/a');
  const merged = parse(text);
  assert.match(text, /current-context: work # by hand/);
  assert.equal(isCurrent, false);
  assert.deepEqual(merged.users[0], { name: 'kubernetes-admin', user: { token: 'secret' } });
  assert.deepEqual(
    merged.contexts.map(({ name }: { name: string }) => name),
    ['work', 'kubevirt-ts'],
  );
});

test('ours is renewed, and that of another data folder or of anybody else is not touched', () => {
  const first = mergeKubeconfig(THEIRS, ours(6443), '/home/a').text;
  const second = parse(mergeKubeconfig(first, ours(7443), '/home/a').text);
  assert.deepEqual([second.clusters.length, second.clusters[1].cluster.server], [2, 'https://127.0.0.1:7443']);
  assert.throws(() => mergeKubeconfig(first, ours(6443), '/home/b'), { code: 'CONTEXT_TAKEN', exitCode: 4 });
  assert.throws(() => mergeKubeconfig('contexts:\n- {name: kubevirt-ts}\n', ours(1), '/home/a'), { code: 'CONTEXT_TAKEN' });
});

test('a file that is no kubeconfig is left as it is', () => {
  for (const text of ['- a list', 'clusters: [', 'text'])
    assert.throws(() => mergeKubeconfig(text, ours(1), '/h'), { code: 'KUBECONFIG_DAMAGED' });
});

test('what was put there is taken out again, and nothing else: not of another data folder, not of somebody else', () => {
  const { text } = mergeKubeconfig(THEIRS, ours(6443), '/home/a');
  const left = parse(withoutOurContext(text, '/home/a') ?? '');
  assert.deepEqual(left, parse(THEIRS));
  assert.equal(withoutOurContext(text, '/home/b'), undefined);
  assert.equal(withoutOurContext(THEIRS, '/home/a'), undefined);
  assert.equal(withoutOurContext('a: [', '/home/a'), undefined);
  assert.equal(withoutOurContext(mergeKubeconfig('', ours(6443), '/home/a').text, '/home/a'), '');
});
