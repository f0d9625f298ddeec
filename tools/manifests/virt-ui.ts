/**
 * deploy/virt-ui.yaml: the web page for many. Its account has no rights and not even a token: whoever looks at the page brings his own.
 * One replica, because the tokens of those who are signed in are in its memory alone.
 */
import { INSTALL_NAMESPACE } from '../../src/api/kubevirt/names.ts';

const NAME = 'virt-ui';
const LABELS = { 'kubevirt.io': NAME, 'app.kubernetes.io/name': NAME, 'app.kubernetes.io/component': 'kubevirt' };
const AT = { name: NAME, namespace: INSTALL_NAMESPACE, labels: LABELS };
const PORT = 'web';
const USER = 1001;

export function virtUi({ image, version }: { readonly image: string; readonly version: string }): object[] {
  const ports = [
    { name: 'http', port: 80 },
    { name: 'https', port: 443 },
  ];
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: AT, automountServiceAccountToken: false },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: AT,
      spec: {
        selector: { 'kubevirt.io': NAME },
        ports: ports.map((port) => ({ ...port, targetPort: PORT, protocol: 'TCP' })),
      },
    },
    deployment(image, version),
  ];
}

function deployment(image: string, version: string): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { ...AT, labels: { ...LABELS, 'app.kubernetes.io/version': version } },
    spec: {
      replicas: 1,
      selector: { matchLabels: { 'kubevirt.io': NAME } },
      strategy: { type: 'Recreate' },
      template: { metadata: { labels: LABELS }, spec: podSpec(image) },
    },
  };
}

function podSpec(image: string): object {
  const probe = (path: string) => ({ httpGet: { path, port: 'health', scheme: 'HTTP' }, periodSeconds: 5, timeoutSeconds: 5 });
  return {
    serviceAccountName: NAME,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    nodeSelector: { 'kubernetes.io/os': 'linux' },
    securityContext: { runAsNonRoot: true, runAsUser: USER, runAsGroup: USER, fsGroup: USER, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        name: NAME,
        image,
        imagePullPolicy: 'IfNotPresent',
        command: [NAME],
        ports: [
          { name: PORT, containerPort: 8443, protocol: 'TCP' },
          { name: 'health', containerPort: 8080, protocol: 'TCP' },
        ],
        volumeMounts: [
          { name: 'api-server-ca', mountPath: '/etc/kubernetes-ca', readOnly: true },
          { name: 'certificate', mountPath: '/etc/virt-ui/certificate', readOnly: true },
        ],
        livenessProbe: { ...probe('/healthz'), initialDelaySeconds: 10, periodSeconds: 20, timeoutSeconds: 10, failureThreshold: 6 },
        readinessProbe: probe('/readyz'),
        resources: { requests: { cpu: '10m', memory: '64Mi' } },
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] }, readOnlyRootFilesystem: true },
        terminationMessagePolicy: 'FallbackToLogsOnError',
      },
    ],
    volumes: [
      { name: 'api-server-ca', configMap: { name: 'kube-root-ca.crt' } },
      // Of type kubernetes.io/tls. Without it plain HTTP is served, which no browser signs in over but through an ingress with TLS.
      { name: 'certificate', secret: { secretName: `${NAME}-certificate`, optional: true, defaultMode: 0o440 } },
    ],
  };
}
