/**
 * The file that says where a cluster is and who we are there. We write it as JSON, which is YAML: kubectl reads it as any other,
 * and our own commands do not have to load a YAML parser for it.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { messageOf, UserError } from '../../base/errors.ts';
import { isObject, type JsonObject } from '../../base/json.ts';
import { writeFileDurably } from '../../base/node/durable-file.ts';
import { execLogin, type Login } from './exec-login.ts';

/** Everything needed to talk to one cluster; certificates and keys are PEM. */
export type Cluster = {
  /** The name of the context it was taken from. */
  readonly context: string;
  readonly server: string;
  readonly namespace?: string;
  readonly ca?: string;
  readonly tlsServerName?: string;
  readonly insecureSkipTlsVerify?: boolean;
  readonly cert?: string;
  readonly key?: string;
  readonly token?: string;
  /** Says who we are, where a program has to be asked for that. */
  readonly login?: Login;
  /** Told of every request and its answer, in a line. */
  readonly trace?: (line: string) => void;
};

/** The cluster of the current context (or `context`) in this file, in $KUBECONFIG, or in ~/.kube/config. Several files are joined, the first to say something wins. */
export function loadKubeconfig(path?: string, options: { readonly context?: string; readonly env?: NodeJS.ProcessEnv } = {}): Cluster {
  const { env = process.env } = options;
  const list = path ?? env['KUBECONFIG'] ?? join(homedir(), '.kube', 'config');
  const paths = list.split(delimiter).filter((each) => each !== '');
  const files = paths.flatMap((each) => readConfig(each, paths.length > 1));
  const context = options.context ?? firstText(files, 'current-context');
  if (!context) throw damaged(list, 'no context is chosen', 'kubectl config use-context NAME');
  const chosen = find(files, 'contexts', 'context', context);
  if (!chosen) throw damaged(list, `there is no context ${context}`);
  const cluster = find(files, 'clusters', 'cluster', textOf(chosen.value['cluster']) ?? '');
  const server = textOf(cluster?.value['server']);
  if (!cluster || !server) throw damaged(list, `the context ${context} names no cluster with a server`);
  const user = find(files, 'users', 'user', textOf(chosen.value['user']) ?? '');
  if (user?.value['auth-provider'])
    throw damaged(
      list,
      `the user of context ${context} has an auth-provider, which Kubernetes has given up`,
      'use its successor, exec, or a context with a certificate or a token',
    );
  const proxy = textOf(cluster.value['proxy-url']);
  if (proxy !== undefined)
    throw damaged(
      list,
      `proxy-url of the cluster of context ${context} is not supported: ${proxy}`,
      'use an address that is reached without one, such as that of a forwarded port',
    );
  const ca = dataOf(cluster, 'certificate-authority');
  const exec = user?.value['exec'];
  return {
    context,
    server,
    namespace: textOf(chosen.value['namespace']),
    ca,
    tlsServerName: textOf(cluster.value['tls-server-name']),
    insecureSkipTlsVerify: cluster.value['insecure-skip-tls-verify'] === true,
    cert: dataOf(user, 'client-certificate'),
    key: dataOf(user, 'client-key'),
    token: textOf(user?.value['token']) ?? fileOf(user, 'tokenFile')?.trim(),
    ...(user && isObject(exec) && { login: execLogin({ exec, path: user.path, cluster: clusterInfo(cluster.value, ca), env }) }),
  };
}

/** What a program that logs in may be told of the cluster: no secret of ours. */
function clusterInfo(cluster: JsonObject, ca: string | undefined): JsonObject {
  const names = ['server', 'tls-server-name', 'insecure-skip-tls-verify', 'proxy-url', 'disable-compression'];
  const said = names.flatMap((name) => (cluster[name] === undefined ? [] : [[name, cluster[name]]]));
  const extensions = Array.isArray(cluster['extensions']) ? cluster['extensions'].filter(isObject) : [];
  const config = extensions.find(({ name }) => name === 'client.authentication.k8s.io/exec')?.['extension'];
  return {
    ...Object.fromEntries(said),
    ...(ca !== undefined && { 'certificate-authority-data': base64(ca) }),
    ...(config !== undefined && { config }),
  };
}

export type NewKubeconfig = Pick<Cluster, 'server' | 'namespace' | 'ca' | 'cert' | 'key'> & {
  /** Of the context and of the cluster. */
  readonly name: string;
  readonly user?: string;
};

/** Writes a file with one context, everything included; only its owner may read it. */
export async function writeKubeconfig(path: string, options: NewKubeconfig): Promise<void> {
  const { name, server, namespace = 'default', ca, cert, key, user = 'kubernetes-admin' } = options;
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster: { server, 'certificate-authority-data': base64(ca) } }],
    contexts: [{ name, context: { cluster: name, user, namespace } }],
    users: [{ name: user, user: { 'client-certificate-data': base64(cert), 'client-key-data': base64(key) } }],
    preferences: {},
  };
  await writeFileDurably(path, `${JSON.stringify(config, null, 2)}\n`);
}

type Config = { readonly path: string; readonly content: JsonObject };
type Entry = { readonly path: string; readonly value: JsonObject };

function readConfig(path: string, mayBeMissing: boolean): Config[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (mayBeMissing && (error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new UserError('KUBECONFIG_MISSING', `cannot read the kubeconfig ${path}`, {
      why: messageOf(error),
      fix: "check KUBECONFIG and --kubeconfig; `virtctl kubeconfig` prints the path of the embedded cluster's",
      exitCode: 8,
      cause: error,
    });
  }
  const content = parse(path, text);
  if (!isObject(content)) throw damaged(path, 'it is not a map');
  return [{ path, content }];
}

function parse(path: string, text: string): unknown {
  if (text.trimStart().startsWith('{')) {
    try {
      return JSON.parse(text);
    } catch {
      // flow style that is YAML but not JSON
    }
  }
  try {
    // Loaded only for files that need it: the parser costs more time than a whole command.
    const yaml = createRequire(import.meta.url)('yaml') as typeof import('yaml');
    return yaml.parse(text);
  } catch (error) {
    throw damaged(path, messageOf(error));
  }
}

function find(files: readonly Config[], list: string, field: string, name: string): Entry | undefined {
  for (const { path, content } of files) {
    const entries = Array.isArray(content[list]) ? content[list] : [];
    const found = entries.find((entry) => isObject(entry) && entry['name'] === name);
    if (isObject(found) && isObject(found[field])) return { path, value: found[field] };
  }
  return undefined;
}

/** `NAME-data` holds base64, `NAME` the path of a file beside the kubeconfig. */
function dataOf(entry: Entry | undefined, name: string): string | undefined {
  const data = textOf(entry?.value[`${name}-data`]);
  return data === undefined ? fileOf(entry, name) : Buffer.from(data, 'base64').toString('utf8');
}

function fileOf(entry: Entry | undefined, name: string): string | undefined {
  const path = textOf(entry?.value[name]);
  if (entry === undefined || path === undefined) return undefined;
  const absolute = isAbsolute(path) ? path : join(dirname(entry.path), path);
  try {
    return readFileSync(absolute, 'utf8');
  } catch (error) {
    throw damaged(entry.path, `${name}: ${messageOf(error)}`);
  }
}

function firstText(files: readonly Config[], field: string): string | undefined {
  return files.map(({ content }) => textOf(content[field])).find((text) => text !== undefined);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function base64(text: string | undefined): string | undefined {
  return text === undefined ? undefined : Buffer.from(text, 'utf8').toString('base64');
}

function damaged(path: string, why: string, fix?: string): UserError {
  return new UserError('KUBECONFIG_INVALID', `Cannot use the kubeconfig ${path}`, { why, fix });
}
