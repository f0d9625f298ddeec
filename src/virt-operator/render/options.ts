/** On which nodes Pods are put, beside what all of ours say. */
export type NodePlacement = {
  readonly nodeSelector?: Readonly<Record<string, string>> | undefined;
  readonly affinity?: unknown;
  readonly tolerations?: readonly object[] | undefined;
};

/** What an installation is made from. */
export type RenderOptions = {
  /** Where the components live. */
  readonly namespace: string;
  readonly images: {
    /** Of virt-operator, virt-api, virt-controller and virt-handler. */
    readonly components: string;
    readonly launcher: string;
    readonly importer: string;
    /** With tools for disks, for `virtctl guestfs`. */
    readonly tools: string;
  };
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never' | undefined;
  /** Names of Secrets. */
  readonly imagePullSecrets?: readonly string[] | undefined;
  /** Of virt-api and virt-controller: `spec.infra.replicas`. */
  readonly replicas?: number | undefined;
  /** `spec.infra.nodePlacement`: virt-api and virt-controller. */
  readonly infraPlacement?: NodePlacement | undefined;
  /** `spec.workloads.nodePlacement`: virt-handler. */
  readonly workloadsPlacement?: NodePlacement | undefined;
  /** Where the kubelet of every node keeps its Pods. */
  readonly kubeletRoot?: string | undefined;
  readonly version: string;
  /** The account of Prometheus, which may read metrics: `spec.monitorAccount` and `spec.monitorNamespace`. */
  readonly monitor?: { readonly account: string; readonly namespace: string } | undefined;
  /** What the components are a part of, as their labels have it. */
  readonly product?: { readonly name?: string | undefined; readonly version?: string | undefined; readonly component?: string | undefined };
  /** Nobody gets rights on machines by the default roles of Kubernetes. */
  readonly hasNoAggregation?: boolean | undefined;
};

/** Secrets and the ConfigMap that hold our certificates, by the names that upstream gives them. */
export const CERTIFICATES = {
  authorities: 'kubevirt-ca',
  authoritiesKey: 'ca-bundle',
  virtApi: 'kubevirt-virt-api-certs',
  handlerServer: 'kubevirt-virt-handler-server-certs',
  handlerClient: 'kubevirt-virt-handler-certs',
  migrationClient: 'kubevirt-migration-client-certs',
} as const;

export const PRIORITY_CLASS = 'kubevirt-cluster-critical';
