/** The commands `build`, `up`, `down` and `kubeconfig` of this folder. */
import { parseArgs } from 'node:util';
import { messageOf, UserError } from '../../src/base/errors.ts';
import { ensureKubernetes } from './build.ts';
import { RealCluster } from './cluster.ts';
import { clusterFolder, clusterFolders } from './cluster-folders.ts';
import { takeDown } from './down.ts';
import { requireHost } from './host-requirements.ts';
import { ensurePackages } from './packages.ts';

const USAGE: Readonly<Record<string, string>> = {
  build: 'tools/kubernetes/build: builds the programs of a real Kubernetes (once, with Go), fetches those of its nodes, prints the folder',
  up: 'tools/kubernetes/up [--nodes N] [--name NAME] [--image ARCHIVE]... [--bare]: starts a real Kubernetes, as root; replaces one of this name',
  down: 'tools/kubernetes/down [--name NAME | --all]: ends it and removes everything of it',
  kubeconfig: 'tools/kubernetes/kubeconfig [--name NAME]: prints the path of its kubeconfig',
};

const COMMANDS: Readonly<Record<string, (args: readonly string[]) => void | Promise<void>>> = { build, up, down, kubeconfig };

function build(args: readonly string[]): void {
  parse('build', args, {});
  ensurePackages();
  console.log(ensureKubernetes());
}

async function up(args: readonly string[]): Promise<void> {
  const { name, nodes, image, bare } = parse('up', args, {
    name: { type: 'string', default: 'default' },
    nodes: { type: 'string', default: '1' },
    image: { type: 'string', multiple: true, default: [] },
    bare: { type: 'boolean', default: false },
  });
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () =>
      interrupted.abort(new UserError('INTERRUPTED', `ended by ${signal}; nothing is left of it`, { exitCode: 130 })),
    );
  }
  const startedMs = performance.now();
  const cluster = await RealCluster.start({
    name: String(name),
    nodes: Number(nodes),
    images: image as string[],
    isBare: bare === true,
    isKept: true,
    signal: interrupted.signal,
  });
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  const named = name === 'default' ? '' : ` --name ${name}`;
  console.error(`  . ready      ${cluster.plan.nodes.length} node(s), ${seconds} s; images are pushed to http://${cluster.registry}`);
  console.log(`export KUBECONFIG=${cluster.kubeconfig}`);
  console.error(`  . end it     tools/kubernetes/down${named}`);
}

async function down(args: readonly string[]): Promise<void> {
  const { name, all } = parse('down', args, { name: { type: 'string', default: 'default' }, all: { type: 'boolean', default: false } });
  requireHost();
  for (const folder of all ? clusterFolders() : [clusterFolder(String(name))]) await takeDown(folder);
}

function kubeconfig(args: readonly string[]): void {
  const { name } = parse('kubeconfig', args, { name: { type: 'string', default: 'default' } });
  console.log(RealCluster.open(String(name)).kubeconfig);
}

type Options = NonNullable<NonNullable<Parameters<typeof parseArgs>[0]>['options']>;

function parse(command: string, args: readonly string[], options: Options): Readonly<Record<string, unknown>> {
  try {
    const { values } = parseArgs({ args: [...args], options: { ...options, help: { type: 'boolean', short: 'h' } } });
    if (values['help']) {
      console.log(USAGE[command]);
      process.exit(0);
    }
    return values;
  } catch (error) {
    throw new UserError('USAGE', messageOf(error), { fix: USAGE[command] ?? '', exitCode: 2, cause: error });
  }
}

const [command = '', ...args] = process.argv.slice(2);
try {
  const run = COMMANDS[command];
  if (!run) throw new UserError('USAGE', `there is no command ${command}`, { fix: Object.keys(COMMANDS).join(', '), exitCode: 2 });
  await run(args);
} catch (error) {
  const { code = 'KUBERNETES_FAILED', why, fix, exitCode = 1 } = error instanceof UserError ? error : {};
  console.error([`error[${code}]: ${messageOf(error)}`, ...(why ? [`why: ${why}`] : []), ...(fix ? [`fix: ${fix}`] : [])].join('\n'));
  process.exitCode = exitCode;
}
process.exit(); // connections to the cluster are kept open for a while
