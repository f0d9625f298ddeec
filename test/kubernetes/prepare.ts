/** Builds what the tests here need and the cache does not have, one after the other: their files run beside each other and would all build it. */
import { hasGo } from '../../tools/go/build-once.ts';
import { ensureHelm } from '../../tools/helm/build.ts';
import { ensureKubernetes } from '../../tools/kubernetes/build.ts';
import { ensurePackages } from '../../tools/kubernetes/packages.ts';
import { ensureUpstreamVirtctl } from '../../tools/upstream-virtctl/build.ts';
import { ensureClientGo } from '../clients/client-go/build.ts';
import { buildGuest } from './push-images.ts';

/** Without Go the tests are skipped, and say so. */
export function prepare(): void {
  if (!hasGo()) return;
  for (const build of [ensureKubernetes, ensurePackages, ensureUpstreamVirtctl, ensureClientGo, ensureHelm]) build();
  for (const guest of ['tiny', 'tiny32', 'agent']) buildGuest(guest);
}
