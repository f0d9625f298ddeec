/**
 * Builds the virtctl of KubeVirt itself, which the tests use as a client, from the Go modules pinned in program/: once, into the cache
 * folder. Prints its path.
 */
import { join } from 'node:path';
import { buildOnce, findGoProgram, type GoProgram, hasGo } from '../go/build-once.ts';

const VERSION = 'v1.7.0';
const UPSTREAM_VIRTCTL: GoProgram = {
  name: 'upstream-virtctl',
  version: VERSION,
  source: join(import.meta.dirname, 'program'),
  package: 'kubevirt.io/kubevirt/cmd/virtctl',
  variables: { 'kubevirt.io/client-go/version.gitVersion': VERSION },
  takes: 'some minutes',
};

/** The program; a UserError when it is not there and cannot be built. */
export function ensureUpstreamVirtctl(): string {
  return join(buildOnce(UPSTREAM_VIRTCTL), UPSTREAM_VIRTCTL.name);
}

/** The program, if somebody has built it. */
export function findUpstreamVirtctl(): string | undefined {
  const folder = findGoProgram(UPSTREAM_VIRTCTL);
  return folder && join(folder, UPSTREAM_VIRTCTL.name);
}

/** Why there can be no such program on this machine; false when there can. */
export function upstreamVirtctlSkipReason(): string | false {
  return findUpstreamVirtctl() || hasGo() ? false : "KubeVirt's own virtctl is built with Go, which is not installed";
}

if (import.meta.main) console.log(ensureUpstreamVirtctl());
