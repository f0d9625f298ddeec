/** Every example of the documents this project grew from, replayed as a session on an embedded cluster with real guests. */
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { replay, type SessionCluster } from '../conformance/seeds/replay.ts';
import { EmbeddedCluster } from './harness.ts';

const TRANSCRIPTS = resolve('test/conformance/seeds');
/** What the manifests of the examples call the guest that is `tiny32` here. */
const IMAGES = ['kubevirt/cirros-container-disk-demo:latest', 'kubevirt/cirros-registry-disk-demo:latest'];

for (const name of readdirSync(TRANSCRIPTS).filter((each) => each.endsWith('.txt'))) {
  test(`the session of ${name}`, { timeout: 280_000 }, async () => {
    await using cluster = await EmbeddedCluster.start({ guests: ['tiny32'] });
    for (const image of IMAGES) await cluster.must('virtctl', ['image', 'tag', 'localhost/guests/tiny32', image]);
    await replay(join(TRANSCRIPTS, name), sessionOn(cluster));
  });
}

/** The tools under the names that people know them by. */
function sessionOn(cluster: EmbeddedCluster): SessionCluster {
  const tools = join(cluster.home, 'tools');
  mkdirSync(tools);
  symlinkSync(resolve('bin/virtctl'), join(tools, 'virtctl'));
  if (cluster.kubectls.current.includes('/')) symlinkSync(cluster.kubectls.current, join(tools, 'kubectl'));
  return { kubeconfig: join(cluster.home, 'kubeconfig'), path: `${tools}:${process.env['PATH']}` };
}
