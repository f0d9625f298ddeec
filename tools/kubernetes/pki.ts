/** Every certificate of one cluster, as files: made once per cluster and thrown away with it. */
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KeyPair } from '../../src/base/node/pki-files.ts';
import { issueAuthority, issueLeaf, type LeafRequest } from '../../src/base/node/pki-issue.ts';
import type { Plan } from './plan.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const SERVICE_NAMES = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local', 'localhost'];

/** Names of the files (`NAME.crt`, `NAME.key`) and whom they stand for; `fp-ca` is the front proxy's own authority. */
export function certificateRequests(plan: Plan): Record<string, LeafRequest> {
  const client = (commonName: string, organization?: string): LeafRequest => ({
    subject: { commonName, ...(organization ? { organizations: [organization] } : {}) },
    use: 'client',
  });
  const apiServer: LeafRequest = {
    subject: { commonName: 'kube-apiserver' },
    use: 'server',
    dnsNames: SERVICE_NAMES,
    ipAddresses: ['127.0.0.1', plan.hostAddress, plan.kubernetesServiceAddress],
  };
  const nodes = plan.nodes.flatMap(({ name, address }): [string, LeafRequest][] => [
    [name, client(`system:node:${name}`, 'system:nodes')],
    [`${name}-server`, { subject: { commonName: name }, use: 'server', dnsNames: [name], ipAddresses: [address] }],
  ]);
  return {
    apiserver: apiServer,
    'front-proxy': client('front-proxy-client'),
    'kubelet-client': client('kube-apiserver-kubelet-client', 'system:masters'),
    admin: client('kubernetes-admin', 'system:masters'),
    'kube-controller-manager': client('system:kube-controller-manager'),
    'kube-scheduler': client('system:kube-scheduler'),
    'kube-proxy': client('system:kube-proxy'),
    ...Object.fromEntries(nodes),
  };
}

/** Writes all of them into `folder` and returns them by name. */
export async function writePki(folder: string, plan: Plan, nowMs: number): Promise<Record<string, KeyPair>> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const validity = { notBeforeMs: nowMs - DAY_MS, notAfterMs: nowMs + 365 * DAY_MS };
  const [ca, frontProxyCa] = await Promise.all([
    issueAuthority({ commonName: 'kubernetes-ca' }, validity),
    issueAuthority({ commonName: 'front-proxy-ca' }, validity),
  ]);
  const leaves = await Promise.all(
    Object.entries(certificateRequests(plan)).map(async ([name, request]): Promise<[string, KeyPair]> => {
      const authority = name === 'front-proxy' ? frontProxyCa : ca;
      return [name, await issueLeaf(authority, request, validity)];
    }),
  );
  const pairs: Record<string, KeyPair> = { ca, 'fp-ca': frontProxyCa, ...Object.fromEntries(leaves) };
  for (const [name, { cert, key }] of Object.entries(pairs)) {
    writeFileSync(join(folder, `${name}.crt`), cert, { mode: 0o600 });
    writeFileSync(join(folder, `${name}.key`), key, { mode: 0o600 });
  }
  const accounts = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  writeFileSync(join(folder, 'sa.pub'), accounts.publicKey, { mode: 0o600 });
  writeFileSync(join(folder, 'sa.key'), accounts.privateKey, { mode: 0o600 });
  return pairs;
}
