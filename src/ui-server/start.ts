/** The server of the web page, on loopback: the page itself, and the API behind it with the rights of one kubeconfig. */
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { Cluster } from '../client/node/kubeconfig.ts';
import { linkDoor } from './link-door.ts';
import type { PageFiles } from './page-files.ts';
import { createPassOn } from './pass-on.ts';
import { type LookAtHost, servePage } from './serve.ts';
import { createSessions, linkTo, type SessionKeys } from './sessions.ts';

export type UiServerOptions = {
  readonly cluster: Cluster;
  /** Where the cluster is now; asked when it is not where it was. */
  readonly reload: () => Promise<Cluster>;
  readonly version: string;
  /** Where new machines go, and all that is shown to who may not see everything. */
  readonly namespace: string;
  /** Asked for with each file. */
  readonly files: () => PageFiles;
  /** 0 takes any free port. */
  readonly port: number;
  readonly keys: SessionKeys;
  /** Looks at the machine of the cluster; only where that is this one. */
  readonly lookAtHost?: LookAtHost | undefined;
  readonly clock: Clock;
  readonly log: Logger;
};

export type UiServer = {
  readonly port: number;
  /** An address that lets one browser in. */
  link(): string;
  close(): Promise<void>;
};

/** Starts to listen; resolves when browsers can come. */
export async function startUiServer(options: UiServerOptions): Promise<UiServer> {
  const { cluster, reload, version, namespace, files, port, keys, lookAtHost, clock, log } = options;
  const sessions = createSessions(keys, clock);
  const server = await servePage({
    passOn: createPassOn({ cluster, reload }),
    about: { server: cluster.server, context: cluster.context, namespace, version },
    files,
    lookAtHost,
    host: '127.0.0.1',
    port,
    door: (own) => linkDoor(own, sessions),
    log,
  });
  return { port: server.port, link: () => linkTo(server.port, keys.link, clock), close: server.close };
}
