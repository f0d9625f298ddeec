/** The checks run once with a current kubectl and once with Debian's 1.20, each with a cluster of its own; with KUBECTL, with that one alone. */
import { after, before, describe } from 'node:test';
import { Cluster } from './cluster.ts';

export type Checks = {
  /** There once the tests run. */
  readonly cluster: () => Cluster;
  readonly isDebian: boolean;
  /** For `skip`: the reason why the old kubectl cannot take part in a check, false for the current one. */
  since(version: string, what: string): string | false;
  /** Makes a namespace of a check's own; puts it before the words of a command. */
  namespace(name: string): Promise<(...args: string[]) => string[]>;
};

type Options = {
  readonly prepare?: (cluster: Cluster) => Promise<void>;
  /** How many checks run at once; 1 where they get in each other's way. */
  readonly concurrency?: number;
};

export function describeWithEachKubectl(title: string, write: (checks: Checks) => void, { prepare, concurrency = 2 }: Options = {}): void {
  for (const isDebian of process.env['KUBECTL'] === undefined ? [false, true] : [false]) {
    describe(`${title}, with ${isDebian ? "Debian's kubectl 1.20" : 'a current kubectl'}`, { timeout: 300_000, concurrency }, () => {
      let cluster: Cluster;
      before(async () => {
        cluster = await Cluster.start({ isDebian });
        await prepare?.(cluster);
      });
      after(() => cluster?.[Symbol.asyncDispose]());
      write({
        cluster: () => cluster,
        isDebian,
        since: (version, what) => isDebian && `kubectl has ${what} since ${version}`,
        async namespace(name) {
          await cluster.must(['create', 'ns', name]);
          return (...args) => ['-n', name, ...args];
        },
      });
    });
  }
}
