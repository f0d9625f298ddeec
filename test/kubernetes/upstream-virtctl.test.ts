import { test } from 'node:test';
import { ensureUpstreamVirtctl, upstreamVirtctlSkipReason } from '../../tools/upstream-virtctl/build.ts';
import { useUpstreamDisks, useUpstreamVirtctl, useUpstreamVolumes } from '../conformance/upstream-virtctl/script.ts';
import { EmbeddedCluster } from '../e2e/harness.ts';
import { sessionOn } from '../e2e/seed-session.ts';

test("KubeVirt's own virtctl, unchanged, on an embedded cluster", { skip: upstreamVirtctlSkipReason() }, async (t) => {
  const virtctl = ensureUpstreamVirtctl();
  await using cluster = await EmbeddedCluster.start({ guests: ['agent'] });
  const session = sessionOn(cluster, virtctl);
  await useUpstreamVirtctl(t, session);
  await useUpstreamDisks(t, session);
  await useUpstreamVolumes(t, session);
});
