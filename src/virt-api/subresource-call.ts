/** What a subresource is called with. */
import type { ClusterConfiguration } from '../api/kubevirt/configuration/cluster-configuration.ts';
import type { Logger } from '../base/log.ts';
import type { TlsIdentity } from '../base/node/https-fetch.ts';
import type { Upgrade } from '../base/node/web-server.ts';
import type { Client } from '../client/client.ts';

type Common = {
  readonly client: Client;
  /** That of the installation. */
  readonly configuration: ClusterConfiguration;
  readonly log: Logger;
  readonly namespace: string;
  readonly name: string;
  /** Who asks, as the API server in front told us. */
  readonly user: string;
  /** How we prove to virt-handler who we are. */
  readonly handlerTls: TlsIdentity;
};

export type SubresourceCall = Common & { readonly request: Request };
export type UpgradeCall = Common & { readonly upgrade: Upgrade };

/** What serves a subresource: an answer, or a WebSocket that is opened. */
export type Served = {
  /** What follows in the path belongs to it. */
  readonly takesRest?: true;
} & ({ readonly answer: (call: SubresourceCall) => Promise<Response> } | { readonly open: (call: UpgradeCall) => Promise<void> });
