import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { clientGoSkipReason, ensureClientGo } from '../clients/client-go/build.ts';
import { restartRenaming } from '../conformance/changed-while-away.ts';
import { Cluster } from '../conformance/cluster.ts';
import { eventually } from '../conformance/eventually.ts';

/** The usual Go client: what most programs on a cluster are made with. It sends protobuf and asks for it. */
describe('client-go', { skip: clientGoSkipReason() }, () => {
  let cluster: Cluster;
  let program: string;
  before(async () => {
    program = ensureClientGo();
    cluster = await Cluster.start();
  });
  after(() => cluster?.[Symbol.asyncDispose]());

  for (const [namespace, watchList] of [
    ['listed', 'false'],
    ['watch-listed', 'true'],
  ] as const) {
    test(`an informer (WatchList ${watchList}): what is there, every change, a restart of the server, a forgotten version`, async () => {
      const make = (name: string, value: string) => cluster.must(['-n', namespace, 'create', 'cm', name, `--from-literal=value=${value}`]);
      await cluster.must(['create', 'ns', namespace]);
      await make('first', '0');
      await using informer = new Running(program, ['watch', namespace], cluster, { KUBE_FEATURE_WatchListClient: watchList });
      await informer.says('synced');
      await make('b', '1');
      await cluster.must(['-n', namespace, 'patch', 'cm', 'b', '-p', '{"data":{"value":"2"}}']);
      await cluster.must(['-n', namespace, 'delete', 'cm', 'b']);
      await informer.says('deleted b 2');
      await cluster.restart();
      await make('c', '3');
      await informer.says('added c 3');
      await restartRenaming(cluster, namespace, ['c', 'd']);
      await informer.says('deleted c 3');
      await informer.says('added d 3');
      const told = informer.lines.filter((line) => !/synced|kube-root-ca/.test(line));
      assert.deepEqual(told.slice(0, -2), ['added first 0', 'added b 1', 'updated b 2', 'deleted b 2', 'added c 3']);
    });
  }

  test('leaders are elected by a Lease: one at a time, through a restart, after a farewell, and after a crash', async () => {
    await cluster.must(['create', 'ns', 'elections']);
    await using first = new Running(program, ['elect', 'elections', 'first'], cluster);
    await first.says('leading');
    await using second = new Running(program, ['elect', 'elections', 'second'], cluster);
    await second.says('leader first');
    const renewed = () => cluster.must(['-n', 'elections', 'get', 'lease', 'elected', '-o', 'jsonpath={.spec.renewTime}']);
    const before = await renewed();
    await cluster.restart();
    await eventually(
      async () => (await renewed()) > before,
      () => `the lease was last renewed at ${before}`,
    );
    assert.deepEqual([first.lines.includes('stopped'), second.lines.includes('leading')], [false, false]);
    first.end('SIGTERM');
    await first.says('stopped');
    await second.says('leading');
    second.end('SIGKILL');
    await using third = new Running(program, ['elect', 'elections', 'third'], cluster);
    await third.says('leading');
    const transitions = ['-n', 'elections', 'get', 'lease', 'elected', '-o', 'jsonpath={.spec.holderIdentity} {.spec.leaseTransitions}'];
    assert.match(await cluster.must(transitions), /^third [1-9]/);
  });
});

/** A program whose lines are listened to. */
class Running implements AsyncDisposable {
  readonly lines: string[] = [];
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  #errors = '';

  constructor(program: string, args: readonly string[], cluster: Cluster, env: Record<string, string> = {}) {
    this.#child = spawn(program, args, { env: { KUBECONFIG: cluster.kubeconfig, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    createInterface({ input: this.#child.stdout }).on('line', (line) => this.lines.push(line));
    this.#child.stderr.on('data', (chunk) => {
      this.#errors += chunk;
    });
  }

  says(line: string): Promise<void> {
    return eventually(
      () => this.lines.includes(line),
      () => `for "${line}" after\n${this.lines.join('\n')}\n${this.#errors}`,
    );
  }

  end(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
  }
}
