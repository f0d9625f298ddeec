/** Builds Helm, which the tests use as a client, from the Go modules pinned in program/: once, into the cache folder. Prints its path. */
import { join } from 'node:path';
import { buildOnce, findGoProgram, type GoProgram, hasGo } from '../go/build-once.ts';

const VERSION = 'v3.22.0';
const HELM: GoProgram = {
  name: 'helm',
  version: VERSION,
  source: join(import.meta.dirname, 'program'),
  package: 'helm.sh/helm/v3/cmd/helm',
  variables: { 'helm.sh/helm/v3/internal/version.version': VERSION },
  takes: 'some minutes',
};

/** The program; a UserError when it is not there and cannot be built. */
export function ensureHelm(): string {
  return join(buildOnce(HELM), HELM.name);
}

/** Why there can be no such program on this machine; false when there can. */
export function helmSkipReason(): string | false {
  return findGoProgram(HELM) || hasGo() ? false : 'Helm is built with Go, which is not installed';
}

if (import.meta.main) console.log(ensureHelm());
