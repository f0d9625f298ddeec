/**
 * Every certificate of an embedded cluster, in one folder: made when missing, renewed before it ends, otherwise left alone. Leaves are renewed
 * while a cluster runs, too; authorities only when it starts, for everybody has copies of them.
 *
 *   authority      signs                                                        who trusts it
 *   ca             API server, admin                                            clients of the API server; the API server, for its clients
 *   front-proxy-ca front-proxy client                                           virt-api: whoever shows this certificate may speak for users
 *   kubevirt-ca    virt-api, virt-handler, clients of virt-handler              API server (caBundle), virt-api, virt-handler
 *
 * Three authorities, because a certificate of our own components must never be good for a login at the API server, nor for
 * speaking in the name of others.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { hostname } from 'node:os';
import type { Clock } from '../clock.ts';
import { UserError } from '../errors.ts';
import { type KeyPair, preparePkiFolder, readKeyPair, writeKeyPair } from './pki-files.ts';
import { issueAuthority, issueLeaf, type LeafRequest, type Subject } from './pki-issue.ts';

export type { KeyPair } from './pki-files.ts';

/** The common name that the front proxy shows; virt-api accepts X-Remote-User from nobody else. */
export const FRONT_PROXY_NAME = 'front-proxy-client';
/** The common name that virt-api shows to virt-handler. */
export const VIRT_HANDLER_CLIENT_NAME = 'kubevirt.io:system:client:virt-handler';
/** The common name that a virt-handler shows to another one, when a guest is moved; it opens nothing else. */
export const MIGRATION_CLIENT_NAME = 'kubevirt.io:system:client:migration';
export const VIRT_API_SERVER_NAME = 'virt-api.kubevirt.svc';
export const VIRT_HANDLER_SERVER_NAME = 'virt-handler.kubevirt.svc';

/** Authorities as PEM certificates (their keys stay in the folder), leaves with their keys. */
export type Pki = {
  readonly ca: string;
  readonly frontProxyCa: string;
  readonly kubevirtCa: string;
  readonly apiServer: KeyPair;
  readonly admin: KeyPair;
  readonly frontProxyClient: KeyPair;
  readonly virtApi: KeyPair;
  readonly virtHandler: KeyPair;
  readonly virtHandlerClient: KeyPair;
  readonly migrationClient: KeyPair;
};

const DAY_MS = 24 * 60 * 60 * 1000;
const AUTHORITY_LIFE_MS = 3650 * DAY_MS;
const LEAF_LIFE_MS = 365 * DAY_MS;
/** Renewed when less than this is left; also what an authority must outlive its leaves by. */
const RENEW_BEFORE_MS = 60 * DAY_MS;
/** Certificates count from a bit before now: clocks of clients differ, and the clock of this machine may be set back. */
const CLOCK_MARGIN_MS = 2 * 60 * 60 * 1000;

/** Makes or renews what is missing or due under `folder` and returns all of it. */
export async function ensurePki(folder: string, clock: Clock): Promise<Pki> {
  await preparePkiFolder(folder);
  const nowMs = clock.now();
  const authority = (name: string, commonName = name) => ensureAuthority({ folder, name, subject: { commonName }, nowMs });
  const [ca, frontProxyCa, kubevirtCa] = await Promise.all([
    authority('ca', 'kubernetes-ca'),
    authority('front-proxy-ca'),
    authority('kubevirt-ca'),
  ]);
  return ensureLeaves({ ca, frontProxyCa, kubevirtCa }, { folder, nowMs });
}

/** True when a leaf should be replaced, by the time alone. */
export function areLeavesDue(pki: Pki, nowMs: number): boolean {
  return leavesIn(pki).some((leaf) => !isInTime(leaf, nowMs));
}

/** Makes what is due of the leaves under `folder`, by the authorities that are there, and returns all of it. */
export async function renewLeaves(folder: string, clock: Clock): Promise<Pki> {
  const authority = async (name: string) => {
    const existing = await readKeyPair(folder, name);
    if (!existing || !isPair(existing)) throw damagedAuthority(folder, name);
    return existing;
  };
  const [ca, frontProxyCa, kubevirtCa] = await Promise.all([authority('ca'), authority('front-proxy-ca'), authority('kubevirt-ca')]);
  return ensureLeaves({ ca, frontProxyCa, kubevirtCa }, { folder, nowMs: clock.now() });
}

type Authorities = { readonly ca: KeyPair; readonly frontProxyCa: KeyPair; readonly kubevirtCa: KeyPair };

async function ensureLeaves(
  { ca, frontProxyCa, kubevirtCa }: Authorities,
  { folder, nowMs }: { readonly folder: string; readonly nowMs: number },
): Promise<Pki> {
  const leaf = (authority: KeyPair, name: string, request: LeafRequest) => ensureLeaf({ folder, name, authority, request, nowMs });
  const [apiServer, admin, frontProxyClient, virtApi, virtHandler, virtHandlerClient, migrationClient] = await Promise.all([
    leaf(ca, 'apiserver', apiServerRequest()),
    leaf(ca, 'admin', { subject: { commonName: 'kubernetes-admin', organizations: ['system:masters'] }, use: 'client' }),
    leaf(frontProxyCa, 'front-proxy-client', { subject: { commonName: FRONT_PROXY_NAME }, use: 'client' }),
    leaf(kubevirtCa, 'virt-api', { ...serverRequest(VIRT_API_SERVER_NAME), ipAddresses: ['127.0.0.1', '::1'] }), // where clients outside get to it
    leaf(kubevirtCa, 'virt-handler', serverRequest(VIRT_HANDLER_SERVER_NAME)),
    leaf(kubevirtCa, 'virt-handler-client', { subject: { commonName: VIRT_HANDLER_CLIENT_NAME }, use: 'client' }),
    leaf(kubevirtCa, 'migration-client', { subject: { commonName: MIGRATION_CLIENT_NAME }, use: 'client' }),
  ]);
  return {
    ca: ca.cert,
    frontProxyCa: frontProxyCa.cert,
    kubevirtCa: kubevirtCa.cert,
    apiServer,
    admin,
    frontProxyClient,
    virtApi,
    virtHandler,
    virtHandlerClient,
    migrationClient,
  };
}

/** The names and addresses a certificate is valid for. */
export function subjectNamesOf(certificatePem: string): { readonly dnsNames: readonly string[]; readonly ipAddresses: readonly string[] } {
  const entries = new X509Certificate(certificatePem).subjectAltName?.split(', ') ?? [];
  const after = (prefix: string) => entries.filter((entry) => entry.startsWith(prefix)).map((entry) => entry.slice(prefix.length));
  return { dnsNames: after('DNS:'), ipAddresses: after('IP Address:').map(shortAddress) };
}

function apiServerRequest(): LeafRequest {
  const service = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local'];
  return {
    subject: { commonName: 'kube-apiserver' },
    use: 'server',
    dnsNames: [...new Set(['localhost', hostname().toLowerCase(), ...service])].filter(isDnsName),
    ipAddresses: ['127.0.0.1', '::1', '10.96.0.1'],
  };
}

function serverRequest(name: string): LeafRequest {
  return { subject: { commonName: name }, use: 'server', dnsNames: [name] };
}

/** A host name may hold characters (an underscore at the front, a space) that verifiers refuse in a certificate. */
function isDnsName(name: string): boolean {
  return /^[a-z0-9_]([a-z0-9_.-]{0,251}[a-z0-9])?$/.test(name);
}

type AuthorityOptions = { readonly folder: string; readonly name: string; readonly subject: Subject; readonly nowMs: number };

/** An authority is what clients have copied into their kubeconfig: it is replaced only when it cannot sign a full-length leaf any more. */
async function ensureAuthority({ folder, name, subject, nowMs }: AuthorityOptions): Promise<KeyPair> {
  const existing = await readKeyPair(folder, name);
  if (existing && !isPair(existing)) throw damagedAuthority(folder, name);
  if (existing && endOf(existing) - nowMs > LEAF_LIFE_MS + RENEW_BEFORE_MS) return existing;
  const made = await issueAuthority(subject, { notBeforeMs: nowMs - CLOCK_MARGIN_MS, notAfterMs: nowMs + AUTHORITY_LIFE_MS });
  await writeKeyPair(folder, name, made);
  return made;
}

function damagedAuthority(folder: string, name: string): UserError {
  return new UserError('PKI_DAMAGED', `The certificate authority ${folder}/${name}.crt cannot be used`, {
    why: `${name}.crt and ${name}.key are damaged or do not belong together`,
    fix: `restore both files, or delete the folder ${folder} to get new certificates (every copied kubeconfig is then useless)`,
  });
}

type LeafOptions = {
  readonly folder: string;
  readonly name: string;
  readonly authority: KeyPair;
  readonly request: LeafRequest;
  readonly nowMs: number;
};

async function ensureLeaf({ folder, name, authority, request, nowMs }: LeafOptions): Promise<KeyPair> {
  const existing = await readKeyPair(folder, name);
  if (existing && isStillGood({ pair: existing, authority, request, nowMs })) return existing;
  const made = await issueLeaf(authority, request, { notBeforeMs: nowMs - CLOCK_MARGIN_MS, notAfterMs: nowMs + LEAF_LIFE_MS });
  await writeKeyPair(folder, name, made);
  return made;
}

function isStillGood(leaf: { pair: KeyPair; authority: KeyPair; request: LeafRequest; nowMs: number }): boolean {
  const { pair, authority, request, nowMs } = leaf;
  if (!isPair(pair) || !isInTime(pair, nowMs)) return false;
  if (!new X509Certificate(pair.cert).verify(new X509Certificate(authority.cert).publicKey)) return false;
  const { dnsNames, ipAddresses } = subjectNamesOf(pair.cert);
  return sameNames(dnsNames, request.dnsNames) && sameNames(ipAddresses, request.ipAddresses);
}

/** One that was made while the clock was ahead is not. */
function isInTime(pair: KeyPair, nowMs: number): boolean {
  return endOf(pair) - nowMs > RENEW_BEFORE_MS && Date.parse(new X509Certificate(pair.cert).validFrom) <= nowMs;
}

function leavesIn({ apiServer, admin, frontProxyClient, virtApi, virtHandler, virtHandlerClient, migrationClient }: Pki): KeyPair[] {
  return [apiServer, admin, frontProxyClient, virtApi, virtHandler, virtHandlerClient, migrationClient];
}

function isPair({ cert, key }: KeyPair): boolean {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false; // not PEM at all
  }
}

function endOf({ cert }: KeyPair): number {
  return Date.parse(new X509Certificate(cert).validTo);
}

function sameNames(a: readonly string[], b: readonly string[] = []): boolean {
  return a.length === b.length && a.every((name) => b.includes(name));
}

/** Node prints IPv6 addresses in full; we write them short. */
function shortAddress(address: string): string {
  return address.includes(':') ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address;
}
