/**
 * Names and addresses of one cluster. They follow from its number alone, so clusters beside each other never share one.
 *
 *   bridge    kubets<K>   10.250.K.1/24    API server, registry and DNS listen here, node N is 10.250.K.(10+N)
 *   Pods                  10.(224+K).N.0/24 on node N
 *   Services              10.241.K.0/24     translated by the kube-proxy of node 1 for the machine itself
 *   loopback              127.250.K.1       etcd and what else nobody but the control plane may reach
 */
export const MAX_CLUSTERS = 16;
export const MAX_NODES = 9;

export type NodePlan = {
  readonly number: number;
  readonly name: string;
  readonly address: string;
  readonly podCidr: string;
  /** The machine's end of the cable. */
  readonly link: string;
};

export type Plan = {
  readonly number: number;
  readonly bridge: string;
  readonly hostAddress: string;
  readonly hostCidr: string;
  readonly nodeCidr: string;
  readonly podCidr: string;
  readonly serviceCidr: string;
  readonly kubernetesServiceAddress: string;
  readonly dnsServiceAddress: string;
  readonly loopback: string;
  readonly server: string;
  readonly registry: string;
  /** Below the root of every cgroup hierarchy. */
  readonly cgroup: string;
  readonly nodes: readonly NodePlan[];
};

/** Everything about cluster `number` that has a name or an address. */
export function planCluster(number: number, nodeCount: number): Plan {
  const bridge = `kubets${number}`;
  const hostAddress = `10.250.${number}.1`;
  return {
    number,
    bridge,
    hostAddress,
    hostCidr: `${hostAddress}/24`,
    nodeCidr: `10.250.${number}.0/24`,
    podCidr: `10.${224 + number}.0.0/16`,
    serviceCidr: `10.241.${number}.0/24`,
    kubernetesServiceAddress: `10.241.${number}.1`,
    dnsServiceAddress: `10.241.${number}.10`,
    loopback: `127.250.${number}.1`,
    server: `https://${hostAddress}:6443`,
    registry: `${hostAddress}:5000`,
    cgroup: bridge,
    nodes: Array.from({ length: nodeCount }, (_, index) => planNode(number, index + 1)),
  };
}

function planNode(cluster: number, number: number): NodePlan {
  return {
    number,
    name: `node${number}`,
    address: `10.250.${cluster}.${10 + number}`,
    podCidr: `10.${224 + cluster}.${number}.0/24`,
    link: `kubets${cluster}n${number}`,
  };
}

/** Routes of the machine, so that tests and the API server reach Pods and Services directly. */
export function hostRoutes({ nodes, serviceCidr }: Plan): string[][] {
  const first = nodes[0];
  return [...nodes.map(({ podCidr, address }) => [podCidr, 'via', address]), ...(first ? [[serviceCidr, 'via', first.address]] : [])];
}

/** Routes of one node: to the Pods of every other one, and everything else to the machine. */
export function nodeRoutes({ nodes, hostAddress }: Plan, self: NodePlan): string[][] {
  const others = nodes.filter(({ number }) => number !== self.number);
  return [['default', 'via', hostAddress], ...others.map(({ podCidr, address }) => [podCidr, 'via', address])];
}

/** True when a route of this machine already leads to an address of the cluster. */
export function isTaken(plan: Plan, routes: readonly string[]): boolean {
  const start = (cidr: string, octets: number) => `${cidr.split('.').slice(0, octets).join('.')}.`;
  const own = [start(plan.nodeCidr, 3), start(plan.podCidr, 2), start(plan.serviceCidr, 3)];
  return routes.some((route) => own.some((prefix) => route.startsWith(prefix)));
}
