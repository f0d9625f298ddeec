/** What the Pods of all components have in common. Pure. */
import { LABEL_COMPONENT } from '../../api/kubevirt/names.ts';
import { MEASURED_LABEL, METRICS_PORT_NAME } from './monitoring.ts';
import { CERTIFICATES, PRIORITY_CLASS, type RenderOptions } from './options.ts';

export type Replicated = 'virt-api' | 'virt-controller';
type ComponentName = Replicated | 'virt-handler';

const USER = 1001;
const HEALTH_PORT = 8080;
/** That of the flag --metrics-port: virt-api serves at 8443 already. */
const METRICS_PORTS: Readonly<Record<ComponentName, number>> = { 'virt-api': 8444, 'virt-controller': 8443, 'virt-handler': 8443 };
/** What each gets when a node is busy: there a guest has a tenth of a processor for each of its own, and every start waits for all of these. */
const CPU: Readonly<Record<ComponentName, string>> = { 'virt-api': '50m', 'virt-controller': '50m', 'virt-handler': '100m' };

/** Labels by which people and our own components find them. */
export function labelsOf(name: ComponentName, { version, product = {} }: RenderOptions): Record<string, string> {
  return {
    [LABEL_COMPONENT]: name,
    'app.kubernetes.io/name': name,
    'app.kubernetes.io/component': product.component || 'kubevirt',
    ...(product.name && { 'app.kubernetes.io/part-of': product.name }),
    'app.kubernetes.io/managed-by': 'virt-operator',
    'app.kubernetes.io/version': product.version || version,
  };
}

/** The part of the labels that never changes, which selectors need. */
export function selectorOf(name: ComponentName): { matchLabels: Record<string, string> } {
  return { matchLabels: { [LABEL_COMPONENT]: name } };
}

/** The spec of a Pod with one container, unprivileged unless `podSpec` says otherwise. */
export function componentPod(
  name: ComponentName,
  options: RenderOptions,
  { serviceAccountName, container, ...podSpec }: { serviceAccountName: string; container: object; [field: string]: unknown },
) {
  const { images, imagePullPolicy = 'IfNotPresent', imagePullSecrets = [] } = options;
  const {
    nodeSelector,
    affinity,
    tolerations = [],
  } = (name === 'virt-handler' ? options.workloadsPlacement : options.infraPlacement) ?? {};
  return {
    metadata: {
      labels: { ...labelsOf(name, options), ...MEASURED_LABEL },
      annotations: { 'prometheus.io/scrape': 'true', 'prometheus.io/scheme': 'https', 'prometheus.io/port': String(METRICS_PORTS[name]) },
    },
    spec: {
      serviceAccountName,
      priorityClassName: PRIORITY_CLASS,
      nodeSelector: { 'kubernetes.io/os': 'linux', ...nodeSelector },
      tolerations: [{ key: 'CriticalAddonsOnly', operator: 'Exists' }, ...tolerations],
      securityContext: { runAsNonRoot: true, runAsUser: USER, runAsGroup: USER, fsGroup: USER, seccompProfile: { type: 'RuntimeDefault' } },
      ...(imagePullSecrets.length > 0 && { imagePullSecrets: imagePullSecrets.map((each) => ({ name: each })) }),
      containers: [
        {
          name,
          image: images.components,
          imagePullPolicy,
          command: [name],
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] }, readOnlyRootFilesystem: true },
          resources: { requests: { cpu: CPU[name], memory: '80Mi' } },
          livenessProbe: probe('/healthz', { initialDelaySeconds: 10, periodSeconds: 20, timeoutSeconds: 10, failureThreshold: 6 }),
          readinessProbe: probe('/readyz', { periodSeconds: 5, timeoutSeconds: 5 }),
          terminationMessagePolicy: 'FallbackToLogsOnError',
          ...container,
        },
      ],
      ...podSpec,
      ...(affinity !== undefined && { affinity }),
    },
  };
}

/** Where probes go, and where /metrics is, with TLS and for those who may. */
export function healthAndMetricsPorts(name: ComponentName) {
  return [
    { name: 'health', containerPort: HEALTH_PORT, protocol: 'TCP' },
    { name: METRICS_PORT_NAME, containerPort: METRICS_PORTS[name], protocol: 'TCP' },
  ] as const;
}

function probe(path: string, timing: Readonly<Record<string, number>>) {
  return { httpGet: { path, port: 'health', scheme: 'HTTP' }, ...timing };
}

/** A certificate (or our authorities) as files, which the kubelet renews. */
export const CERTIFICATE_VOLUMES = {
  virtApi: secret('serving-certificate', CERTIFICATES.virtApi, '/etc/virt-api/certificates'),
  handlerServer: secret('serving-certificate', CERTIFICATES.handlerServer, '/etc/virt-handler/servercertificates'),
  handlerClient: secret('handler-client-certificate', CERTIFICATES.handlerClient, '/etc/virt-handler/clientcertificates'),
  migrationClient: secret('migration-client-certificate', CERTIFICATES.migrationClient, '/etc/virt-handler/migrationcertificates'),
  authorities: {
    volume: { name: 'authorities', configMap: { name: CERTIFICATES.authorities } },
    mount: { name: 'authorities', mountPath: '/etc/kubevirt-ca', readOnly: true },
  },
} as const;

function secret(name: string, secretName: string, mountPath: string) {
  return { volume: { name, secret: { secretName, defaultMode: 0o440 } }, mount: { name, mountPath, readOnly: true } };
}

/** A component of which there are several, on different nodes where that can be. */
export function componentDeployment(
  name: Replicated,
  options: RenderOptions,
  { maxUnavailable, ...pod }: { maxUnavailable: number } & Parameters<typeof componentPod>[2],
) {
  const { namespace, replicas = 2 } = options;
  const podAffinityTerm = { labelSelector: selectorOf(name), topologyKey: 'kubernetes.io/hostname' };
  const affinity = { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm }] } };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace, labels: labelsOf(name, options) },
    spec: {
      replicas,
      selector: selectorOf(name),
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable, maxSurge: 1 } },
      template: componentPod(name, options, { affinity, ...pod }),
    },
  };
}
