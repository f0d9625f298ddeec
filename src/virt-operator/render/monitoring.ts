/**
 * How Prometheus finds the components and may read them, by the names that KubeVirt has. The kinds of its operator are made where they are served.
 * Pure.
 */
import { SERVICE_ACCOUNT_MOUNT_PATH } from '../../api/core/service-account-mount.ts';
import { ALERT_GROUPS } from './alert-rules-table.ts';
import type { RenderOptions } from './options.ts';

/** Every Pod that has metrics. */
export const MEASURED_LABEL = { 'prometheus.kubevirt.io': 'true' } as const;
export const METRICS_PORT_NAME = 'metrics';
const SERVICE = 'kubevirt-prometheus-metrics';
const READER = 'kubevirt-metrics-reader';
const LABELS = { 'kubevirt.io': '', ...MEASURED_LABEL };
const RBAC = 'rbac.authorization.k8s.io';

export function renderMonitoring(options: RenderOptions): object[] {
  const { namespace, monitor } = options;
  const metadata = { namespace, labels: LABELS };
  return [
    { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata: { name: READER, labels: LABELS }, rules: READ_METRICS },
    ...(monitor ? [binding(monitor)] : []),
    { apiVersion: 'v1', kind: 'Service', metadata: { name: SERVICE, ...metadata }, spec: SERVICE_SPEC },
    {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'ServiceMonitor',
      metadata: { name: SERVICE, ...metadata },
      spec: { selector: { matchLabels: MEASURED_LABEL }, namespaceSelector: { matchNames: [namespace] }, endpoints: [ENDPOINT] },
    },
    {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'PrometheusRule',
      metadata: { name: 'prometheus-kubevirt-rules', ...metadata },
      spec: { groups: ALERT_GROUPS },
    },
  ];
}

const READ_METRICS = [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }];

/** All components behind one name: of use to Prometheus alone, which asks each of them. */
const SERVICE_SPEC = {
  clusterIP: 'None',
  selector: MEASURED_LABEL,
  ports: [{ name: METRICS_PORT_NAME, port: 443, targetPort: METRICS_PORT_NAME, protocol: 'TCP' }],
};

/** Every component has a certificate of its own making. Labels that samples have are kept: `namespace` is that of the machine. */
const ENDPOINT = {
  port: METRICS_PORT_NAME,
  scheme: 'https',
  tlsConfig: { insecureSkipVerify: true },
  bearerTokenFile: `${SERVICE_ACCOUNT_MOUNT_PATH}/token`,
  honorLabels: true,
};

function binding({ account, namespace }: NonNullable<RenderOptions['monitor']>): object {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: READER, labels: LABELS },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: READER },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
  };
}
