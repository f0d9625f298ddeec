import assert from 'node:assert/strict';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { kubeconfigPath } from '../../client/node/find-kubeconfig.ts';
import { mergeInto, takeFromKubeconfigs, userKubeconfig } from './user-kubeconfig.ts';

const OURS = {
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'kubevirt-ts',
  clusters: [{ name: 'kubevirt-ts', cluster: { server: 'https://127.0.0.1:6443' } }],
  users: [{ name: 'kubevirt-ts', user: {} }],
  contexts: [{ name: 'kubevirt-ts', context: { cluster: 'kubevirt-ts', user: 'kubevirt-ts' } }],
};
const THEIRS = 'apiVersion: v1\nkind: Config\ncurrent-context: work # by hand\ncontexts: [{name: work, context: {cluster: work}}]\n';

/** A data folder with the kubeconfig of its cluster, and a home folder beside it. */
function folders(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
  t.after(() => rmSync(root, { recursive: true }));
  const [data, home] = [join(root, 'data'), join(root, 'home')];
  for (const folder of [data, home]) mkdirSync(folder);
  writeFileSync(kubeconfigPath(data), JSON.stringify(OURS));
  return { root, data, home };
}

test('a user without a kubeconfig gets one of their own, for nobody else, and loses it again', (t) => {
  const { data, home } = folders(t);
  const path = userKubeconfig({ HOME: home });
  assert.match(mergeInto(path, data), /^context kubevirt-ts put into .*config \(current\)$/);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.match(mergeInto(path, data), /^context kubevirt-ts is in /);
  assert.match(takeFromKubeconfigs({ HOME: home }, data) ?? '', /taken out of/);
  assert.deepEqual(readdirSync(join(home, '.kube')), []);
});

test('a file that is there keeps its mode, and a link to it stays a link', (t) => {
  const { root, data, home } = folders(t);
  const [kept, link] = [join(root, 'kept.yaml'), join(home, 'config')];
  writeFileSync(kept, THEIRS);
  chmodSync(kept, 0o640);
  symlinkSync('../kept.yaml', link);
  const env = { HOME: home, KUBECONFIG: `${link}:/elsewhere` };
  assert.match(mergeInto(userKubeconfig(env), data), /\(kubectl --context kubevirt-ts\)$/);
  assert.match(readFileSync(kept, 'utf8'), /current-context: work # by hand[\s\S]*127\.0\.0\.1:6443/);
  assert.deepEqual([lstatSync(link).isSymbolicLink(), statSync(kept).mode & 0o777], [true, 0o640]);
  takeFromKubeconfigs(env, data);
  assert.doesNotMatch(readFileSync(kept, 'utf8'), /kubevirt-ts/);
  assert.deepEqual([lstatSync(link).isSymbolicLink(), readdirSync(root).sort()], [true, ['data', 'home', 'kept.yaml']]);
});
