/** Which cluster a command talks to, and which machine its words name. */
import { X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../base/clock.ts';
import { UserError } from '../base/errors.ts';
import { type Client, createClient } from '../client/client.ts';
import { type Cluster, loadKubeconfig } from '../client/node/kubeconfig.ts';
import { createTlsFetch } from '../client/node/tls-fetch.ts';
import type { Context } from './context.ts';
import { kubeconfigPath } from './embedded/paths.ts';

export type ConnectionFlags = {
  readonly namespace?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly verbosity?: number;
};
export type Connection = { readonly client: Client; readonly cluster: Cluster; readonly namespace: string };

/** A kind that can be told to start, stop or restart; `vmi` is the running guest itself. */
export type MachineKind = 'vm' | 'ovm' | 'vmic' | 'vmi';
export type MachineTarget = { readonly kind?: MachineKind; readonly name: string; readonly note?: string };

/** The words people put between verb and name, as with kubectl. */
const KIND_WORDS: Readonly<Record<MachineKind, readonly string[]>> = {
  vm: ['vm', 'vms', 'virtualmachine', 'virtualmachines'],
  vmi: ['vmi', 'vmis', 'virtualmachineinstance', 'virtualmachineinstances'],
  // `omv` is how a published example spells it
  ovm: ['ovm', 'ovms', 'offlinevirtualmachine', 'offlinevirtualmachines', 'omv'],
  vmic: ['vmic', 'vmics', 'virtualmachineinstanceconfig', 'virtualmachineinstanceconfigs'],
};

/** As with kubectl: from this level on the requests are told. */
const REQUESTS_FROM = 6;

export function connect(context: Context, flags: ConnectionFlags): Connection {
  const path = findKubeconfig(context, flags);
  const loaded = loadKubeconfig(path, flags.context === undefined ? {} : { context: flags.context });
  const { verbosity = 0 } = flags;
  const trace = (line: string) => context.process.stderr.write(`${line}\n`);
  const cluster = verbosity >= REQUESTS_FROM ? { ...loaded, trace } : loaded;
  if (cluster.cert) mustBeValid(cluster.cert, path, systemClock.now());
  const client = createClient({ fetch: createTlsFetch(cluster), baseUrl: cluster.server, userAgent: `virtctl/${context.version}` });
  return { client, cluster, namespace: flags.namespace ?? cluster.namespace ?? 'default' };
}

/** A server refuses who shows an expired certificate with 401, and its answer does not say why. */
function mustBeValid(certificate: string, path: string, now: number): void {
  const { validTo, validToDate } = new X509Certificate(certificate);
  if (now <= validToDate.getTime()) return;
  throw new UserError('CERTIFICATE_EXPIRED', `the client certificate in ${path} has expired`, {
    why: `it was valid until ${validTo}`,
    fix: 'virtctl down and virtctl up renew that of an embedded cluster; for another one, ask whoever gave it to you',
    exitCode: 6,
  });
}

function findKubeconfig(context: Context, flags: ConnectionFlags): string {
  const explicit = flags.kubeconfig ?? context.process.env['KUBECONFIG'];
  if (explicit) return explicit;
  const candidates = [kubeconfigPath(context.home), join(homedir(), '.kube', 'config')];
  const found = candidates.find((path) => existsSync(path));
  if (found) return found;
  throw new UserError('NO_CLUSTER', 'there is no cluster to talk to', {
    why: `neither KUBECONFIG is set nor is there one of ${candidates.join(', ')}`,
    fix: 'virtctl up starts one on this machine',
    exitCode: 8,
  });
}

/** `NAME`, `vm NAME` or `vm/NAME`. */
export function machineName(verb: string, words: readonly string[]): string {
  return machineTarget(verb, words).name;
}

/** The same, and which kind was meant, if that was said. */
export function machineTarget(verb: string, words: readonly string[]): MachineTarget {
  const parts = words.flatMap((word) => word.split('/'));
  const [first = '', second] = parts;
  if (parts.length === 1 && first) return { name: first };
  const word = first.toLowerCase();
  const kind = (Object.keys(KIND_WORDS) as MachineKind[]).find((each) => KIND_WORDS[each].includes(word)); // keys of a Record
  if (parts.length === 2 && second && kind) return { kind, name: second, ...(word === 'omv' && { note: 'omv is taken as ovm' }) };
  throw new UserError('USAGE', `virtctl ${verb} takes one machine, got: ${words.join(' ')}`, {
    why: parts.length === 2 ? `${first} is not a kind of machine` : 'more than one name was given',
    fix: `virtctl ${verb} ${parts.at(-1)}, or virtctl ${verb} vm ${parts.at(-1)}`,
    exitCode: 2,
  });
}
