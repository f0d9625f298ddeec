/** The command lines of the control plane, in the order in which they start. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Plan } from './plan.ts';

export const CONTROL_PLANE = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;
export type ControlPlaneProgram = (typeof CONTROL_PLANE)[number];

/** In the folder of a cluster whose API server keeps a log of who wrote what. */
export const AUDIT_POLICY = 'audit-policy.json';
export const AUDIT_LOG = 'log/audit.log';

type Input = { readonly plan: Plan; readonly folder: string };

/** The flags of each program; paths are below the cluster's folder. */
export function controlPlaneFlags(input: Input): Readonly<Record<ControlPlaneProgram, readonly string[]>> {
  return {
    etcd: etcdFlags(input),
    'kube-apiserver': apiServerFlags(input),
    'kube-controller-manager': controllerManagerFlags(input),
    'kube-scheduler': schedulerFlags(input),
  };
}

function etcdFlags({ plan, folder }: Input): string[] {
  const [client, peer] = [`http://${plan.loopback}:2379`, `http://${plan.loopback}:2380`];
  return [
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    '--unsafe-no-fsync', // the cluster is thrown away
  ];
}

function apiServerFlags({ plan, folder }: Input): string[] {
  const pki = (name: string) => join(folder, 'pki', name);
  return [
    `--etcd-servers=http://${plan.loopback}:2379`,
    '--secure-port=6443',
    `--bind-address=${plan.hostAddress}`, // nothing listens on the machine's own addresses, and Service kubernetes gets an endpoint that works
    `--advertise-address=${plan.hostAddress}`,
    `--service-cluster-ip-range=${plan.serviceCidr}`,
    `--tls-cert-file=${pki('apiserver.crt')}`,
    `--tls-private-key-file=${pki('apiserver.key')}`,
    `--client-ca-file=${pki('ca.crt')}`,
    `--service-account-key-file=${pki('sa.pub')}`,
    `--service-account-signing-key-file=${pki('sa.key')}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    '--allow-privileged=true',
    `--requestheader-client-ca-file=${pki('fp-ca.crt')}`,
    '--requestheader-allowed-names=front-proxy-client',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    `--proxy-client-cert-file=${pki('front-proxy.crt')}`,
    `--proxy-client-key-file=${pki('front-proxy.key')}`,
    `--kubelet-client-certificate=${pki('kubelet-client.crt')}`,
    `--kubelet-client-key=${pki('kubelet-client.key')}`,
    `--kubelet-certificate-authority=${pki('ca.crt')}`,
    '--kubelet-preferred-address-types=InternalIP',
    '--enable-aggregator-routing=true', // webhooks and aggregated APIs are called at the address of their Pod
    ...(existsSync(join(folder, AUDIT_POLICY))
      ? [`--audit-policy-file=${join(folder, AUDIT_POLICY)}`, `--audit-log-path=${join(folder, AUDIT_LOG)}`]
      : []),
  ];
}

function controllerManagerFlags({ plan, folder }: Input): string[] {
  const pki = (name: string) => join(folder, 'pki', name);
  return [
    ...identityFlags(folder, 'kube-controller-manager'),
    `--service-account-private-key-file=${pki('sa.key')}`,
    `--root-ca-file=${pki('ca.crt')}`,
    `--cluster-signing-cert-file=${pki('ca.crt')}`,
    `--cluster-signing-key-file=${pki('ca.key')}`,
    '--use-service-account-credentials=true',
    '--allocate-node-cidrs=false',
    '--leader-elect=false',
    `--bind-address=${plan.loopback}`,
    '--secure-port=10257',
    '--node-monitor-period=2s',
    '--node-monitor-grace-period=16s',
  ];
}

function schedulerFlags({ plan, folder }: Input): string[] {
  return [...identityFlags(folder, 'kube-scheduler'), '--leader-elect=false', `--bind-address=${plan.loopback}`, '--secure-port=10259'];
}

function identityFlags(folder: string, name: string): string[] {
  const path = join(folder, 'pki', `${name}.kubeconfig`);
  return [`--kubeconfig=${path}`, `--authentication-kubeconfig=${path}`, `--authorization-kubeconfig=${path}`];
}
