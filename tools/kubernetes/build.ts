/**
 * Builds a real Kubernetes (API server, controllers, scheduler, kubelet, proxy, kubectl) and etcd from the Go modules pinned in program/,
 * once per version, into the cache folder. Prints the folder with one name per program. About five minutes and 6 CPU minutes.
 */
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { buildOnce } from '../go/build-once.ts';

const VERSION = 'v1.34.4';
const PROGRAMS = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubelet', 'kube-proxy', 'kubectl'];
const NAME = 'kubernetes';

/** The folder with the programs; a UserError when they are not there and cannot be built. */
export function ensureKubernetes(): string {
  const kubernetes = {
    name: NAME,
    version: VERSION,
    source: join(import.meta.dirname, 'program'),
    package: '.',
    variables: {
      'k8s.io/component-base/version.gitVersion': VERSION,
      'k8s.io/component-base/version.gitMajor': '1',
      'k8s.io/component-base/version.gitMinor': '34',
      'k8s.io/client-go/pkg/version.gitVersion': VERSION,
    },
    takes: 'five to seven minutes',
  };
  return buildOnce(kubernetes, (folder) => {
    for (const program of PROGRAMS) symlinkSync(NAME, join(folder, program));
  });
}

if (import.meta.main) console.log(ensureKubernetes());
