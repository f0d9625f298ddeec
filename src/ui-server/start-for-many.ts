/** The server of the web page inside of a cluster, for many: everybody signs in with a token of his own, and acts with its rights. */
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { KeyPair } from '../base/node/pki-files.ts';
import type { Cluster } from '../client/node/kubeconfig.ts';
import type { PageFiles } from './page-files.ts';
import { createPassOn } from './pass-on.ts';
import { type PageServer, servePage } from './serve.ts';
import { tokenDoor } from './token-door.ts';
import { createTokenSessions } from './token-sessions.ts';

export type ForManyOptions = {
  /** Where the API is and what vouches for it; whoever asks brings his own credentials. */
  readonly api: Pick<Cluster, 'context' | 'server' | 'ca'>;
  readonly version: string;
  /** What is shown to who may not see everything, until he chooses another. */
  readonly namespace: string;
  readonly files: () => PageFiles;
  readonly host: string;
  readonly port: number;
  /** The names under which browsers know the page; any when empty. */
  readonly hosts: readonly string[];
  readonly certificate?: KeyPair | undefined;
  readonly clock: Clock;
  readonly log: Logger;
};

/** Starts to listen; resolves when browsers can come. */
export async function startForMany({ api, version, namespace, hosts, clock, ...options }: ForManyOptions): Promise<PageServer> {
  const { context, server, ca } = api; // no credentials, whatever else is there
  const cluster: Cluster = { context, server, ...(ca !== undefined && { ca }) };
  const passOn = createPassOn({ cluster, reload: async () => cluster });
  const sessions = createTokenSessions(clock);
  return servePage({
    ...options,
    passOn,
    about: { server, context, namespace, version },
    door: () => tokenDoor({ sessions, hosts, ask: passOn.ask }),
  });
}
