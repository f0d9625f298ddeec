/** The sessions of the documents this project grew from, replayed on an embedded cluster with real guests. */
import { mkdirSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { replay, type SessionCluster } from '../conformance/seeds/replay.ts';
import { EmbeddedCluster } from './harness.ts';

/** A test of one transcript, on a cluster of its own. */
export function testSession(transcript: string): void {
  test(`the session of ${transcript}`, async () => {
    await using cluster = await EmbeddedCluster.start({ guests: ['tiny32'] });
    await replay(resolve('test/conformance/seeds', transcript), sessionOn(cluster));
  });
}

/** The tools under the names that people know them by. */
export function sessionOn(cluster: EmbeddedCluster, virtctl = resolve('bin/virtctl')): SessionCluster {
  const tools = join(cluster.home, 'tools');
  mkdirSync(tools);
  symlinkSync(virtctl, join(tools, 'virtctl'));
  if (cluster.kubectls.current.includes('/')) symlinkSync(cluster.kubectls.current, join(tools, 'kubectl'));
  return { kubeconfig: join(cluster.home, 'kubeconfig'), path: `${tools}:${process.env['PATH']}` };
}
