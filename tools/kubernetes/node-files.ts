/** What stands in a node's configuration folder, which it sees as /run/node. JSON is YAML, so everything but containerd's is JSON. */
import { type NodePlan, nodeRoutes, type Plan } from './plan.ts';

export const PAUSE_IMAGE = 'images.local/pause:1';

/** File names and their content; certificates and kubeconfigs are added by whoever made them. */
export function nodeFiles(plan: Plan, node: NodePlan): Record<string, string> {
  return {
    'containerd.toml': containerdConfig(),
    'registries/_default/hosts.toml': registryConfig(plan),
    'cni/10-pods.conflist': JSON.stringify(networkConfig(node)),
    'kubelet.json': JSON.stringify(kubeletConfig(plan, node)),
    'kube-proxy.json': JSON.stringify(kubeProxyConfig(plan, node)),
    'resolv.conf': '',
    routes: nodeRoutes(plan, node)
      .map((route) => `${route.join(' ')}\n`)
      .join(''),
  };
}

/** Every reference of whatever registry is asked for at the cluster's own one, and nowhere else. */
function registryConfig({ registry }: Plan): string {
  return `server = "http://${registry}"\n\n[host."http://${registry}"]\n  capabilities = ["pull", "resolve"]\n`;
}

function containerdConfig(): string {
  return `version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
oom_score = 0

[grpc]
  address = "/run/containerd/containerd.sock"

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${PAUSE_IMAGE}"
  restrict_oom_score_adj = true
  disable_apparmor = true
  device_ownership_from_security_context = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "/run/node/cni"
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "/run/node/registries"
`;
}

/** Routed, without a bridge: replies of Services between Pods of one node pass conntrack, and a Pod reaches itself through its Service. */
function networkConfig(node: NodePlan): object {
  return {
    cniVersion: '0.4.0',
    name: 'pods',
    plugins: [
      {
        type: 'ptp',
        ipMasq: false,
        ipam: { type: 'host-local', dataDir: '/run/cni-ipam', ranges: [[{ subnet: node.podCidr }]], routes: [{ dst: '0.0.0.0/0' }] },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  };
}

function kubeletConfig(plan: Plan, node: NodePlan): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509: { clientCAFile: '/run/node/ca.crt' } },
    authorization: { mode: 'Webhook' },
    address: node.address,
    healthzBindAddress: '127.0.0.1',
    clusterDNS: [plan.dnsServiceAddress],
    clusterDomain: 'cluster.local',
    resolvConf: '/run/node/resolv.conf',
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${plan.cgroup}/${node.name}`, // a kubelet removes Pod cgroups that it does not know
    failCgroupV1: false,
    failSwapOn: false,
    containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
    tlsCertFile: '/run/node/server.crt',
    tlsPrivateKeyFile: '/run/node/server.key',
    evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
    imageGCHighThresholdPercent: 100,
    nodeStatusUpdateFrequency: '4s',
    volumePluginDir: '/var/lib/kubelet/volume-plugins', // the usual place is below /usr, which is read-only here
  };
}

function kubeProxyConfig(plan: Plan, node: NodePlan): object {
  return {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'nftables',
    clientConnection: { kubeconfig: '/run/node/kube-proxy.kubeconfig' },
    clusterCIDR: plan.podCidr,
    hostnameOverride: node.name,
    bindAddress: node.address,
    healthzBindAddress: '127.0.0.1:10256',
    metricsBindAddress: '127.0.0.1:10249',
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' }, // a network namespace may not set the size
    nodePortAddresses: [plan.nodeCidr],
  };
}
