/** Puts the product into a real cluster without virt-operator: its manifests, its components, and certificates of an authority made here. */
import { join, resolve } from 'node:path';
import { INSTALL_NAMESPACE } from '../../src/api/kubevirt/names.ts';
import type { KubeObject } from '../../src/api/meta.ts';
import { VIRT_API_SERVER_NAME, VIRT_HANDLER_CLIENT_NAME, VIRT_HANDLER_SERVER_NAME } from '../../src/base/node/pki.ts';
import type { KeyPair } from '../../src/base/node/pki-files.ts';
import { issueAuthority, issueLeaf, type LeafRequest } from '../../src/base/node/pki-issue.ts';
import { readManifests } from '../../src/cmd/cluster/read-manifests.ts';
import { VERSION } from '../../src/cmd/version.ts';
import { CERTIFICATES, type RenderOptions } from '../../src/virt-operator/render/options.ts';
import { renderComponents, withCaBundle } from '../../src/virt-operator/render/render.ts';
import type { RealCluster } from '../../tools/kubernetes/cluster.ts';
import { apply, kubectl } from './kubectl.ts';

const DEPLOY = resolve(import.meta.dirname, '../../deploy');

/** Resolves when every component is ready. */
export async function install(cluster: RealCluster, images: RenderOptions['images']): Promise<void> {
  const { authority, objects } = await certificates();
  const manifests = readManifests(DEPLOY).map((object) => withCaBundle(object, authority));
  const first = manifests.filter(({ kind }) => kind === 'Namespace' || kind === 'CustomResourceDefinition');
  await applyLarge(cluster, first);
  await apply(cluster, ...manifests.filter((object) => !first.includes(object)), ...objects);
  await apply(cluster, ...renderComponents({ namespace: INSTALL_NAMESPACE, images, version: VERSION }));
  for (const each of ['deployment/virt-api', 'deployment/virt-controller', 'daemonset/virt-handler'])
    await kubectl(cluster, '-n', INSTALL_NAMESPACE, 'rollout', 'status', each, '--timeout=180s');
}

/** Definitions are larger than the annotation in which `kubectl apply` keeps what was applied. */
async function applyLarge(cluster: RealCluster, objects: readonly KubeObject[]): Promise<void> {
  await apply(cluster, ...objects.filter(({ kind }) => kind === 'Namespace'));
  await kubectl(cluster, 'create', '-f', join(DEPLOY, 'crds'));
}

async function certificates(): Promise<{ authority: string; objects: object[] }> {
  const now = Date.now();
  const validity = { notBeforeMs: now - 3_600_000, notAfterMs: now + 86_400_000 };
  const authority = await issueAuthority({ commonName: 'kubevirt-ca' }, validity);
  const leaf = (request: LeafRequest) => issueLeaf(authority, request, validity);
  const server = (name: string) => leaf({ subject: { commonName: name }, use: 'server', dnsNames: [name] });
  return {
    authority: authority.cert,
    objects: [
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: CERTIFICATES.authorities, namespace: INSTALL_NAMESPACE },
        data: { [CERTIFICATES.authoritiesKey]: authority.cert },
      },
      secret(CERTIFICATES.virtApi, await server(VIRT_API_SERVER_NAME)),
      secret(CERTIFICATES.handlerServer, await server(VIRT_HANDLER_SERVER_NAME)),
      secret(CERTIFICATES.handlerClient, await leaf({ subject: { commonName: VIRT_HANDLER_CLIENT_NAME }, use: 'client' })),
    ],
  };
}

function secret(name: string, { cert, key }: KeyPair): object {
  const metadata = { name, namespace: INSTALL_NAMESPACE };
  return { apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/tls', metadata, stringData: { 'tls.crt': cert, 'tls.key': key } };
}
