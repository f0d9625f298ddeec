import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PodSpec } from '../../api/core/pod.ts';
import type { KubeObject } from '../../api/meta.ts';
import { renderComponents, withCaBundle } from './render.ts';

const OPTIONS = {
  namespace: 'kubevirt',
  images: { components: 'r/kubevirt:1', launcher: 'r/virt-launcher:1', importer: 'r/virt-importer:1', tools: 'r/libguestfs-tools:1' },
  version: 'v1',
};
type Workload = KubeObject & { spec: { replicas?: number; template: { metadata: KubeObject['metadata']; spec: PodSpec } } };

function workload(name: string, options = OPTIONS): Workload {
  return renderComponents(options).find(({ kind, metadata }) => metadata.name === name && /Deployment|DaemonSet/.test(kind)) as Workload;
}

describe('renderComponents', () => {
  test('everything that an installation runs, in order', () => {
    assert.deepEqual(
      renderComponents(OPTIONS).map(({ kind, metadata }) => `${kind} ${metadata.name}`),
      [
        'PriorityClass kubevirt-cluster-critical',
        'ValidatingAdmissionPolicy kubevirt-handler-own-node',
        'ValidatingAdmissionPolicyBinding kubevirt-handler-own-node',
        'ValidatingAdmissionPolicy kubevirt-handler-own-pods',
        'ValidatingAdmissionPolicyBinding kubevirt-handler-own-pods',
        'ValidatingAdmissionPolicy kubevirt-handler-own-instances',
        'ValidatingAdmissionPolicyBinding kubevirt-handler-own-instances',
        'ValidatingAdmissionPolicy kubevirt-launcher-pods',
        'ValidatingAdmissionPolicyBinding kubevirt-launcher-pods',
        'PodDisruptionBudget virt-api-pdb',
        'PodDisruptionBudget virt-controller-pdb',
        'ClusterRole kubevirt-metrics-reader',
        'Service kubevirt-prometheus-metrics',
        'ServiceMonitor kubevirt-prometheus-metrics',
        'PrometheusRule prometheus-kubevirt-rules',
        'Deployment virt-api',
        'Deployment virt-controller',
        'DaemonSet virt-handler',
      ],
    );
  });

  test('a single replica has no disruption budget, which would stop every drain', () => {
    const kinds = renderComponents({ ...OPTIONS, replicas: 1 }).map(({ kind }) => kind);
    assert.ok(!kinds.includes('PodDisruptionBudget'));
    assert.equal(workload('virt-api', { ...OPTIONS, replicas: 1 } as never).spec.replicas, 1);
  });

  for (const [name, account] of [
    ['virt-api', 'kubevirt-apiserver'],
    ['virt-controller', 'kubevirt-controller'],
    ['virt-handler', 'kubevirt-handler'],
  ] as const) {
    test(`${name} is found by its label and has rights of its own`, () => {
      const { metadata, spec } = workload(name).spec.template;
      assert.equal(metadata.labels?.['kubevirt.io'], name);
      assert.deepEqual([spec.serviceAccountName, spec.priorityClassName], [account, 'kubevirt-cluster-critical']);
      assert.deepEqual(spec.containers[0]?.command, [name]);
    });
  }

  test('virt-api and virt-controller are fit for the restricted Pod security standard', () => {
    for (const name of ['virt-api', 'virt-controller']) {
      const { spec } = workload(name).spec.template;
      assert.deepEqual([spec.securityContext?.runAsNonRoot, spec.securityContext?.seccompProfile], [true, { type: 'RuntimeDefault' }]);
      assert.deepEqual(spec.containers[0]?.securityContext, {
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
        readOnlyRootFilesystem: true,
      });
      assert.ok(!spec.volumes?.some(({ hostPath }) => hostPath));
    }
  });

  test("virt-handler reaches the kubelet's Pods, wherever they are, and where it takes devices, sees what processes use, and nothing else of the node", () => {
    const { spec } = workload('virt-handler', { ...OPTIONS, kubeletRoot: '/data/kubelet' } as never).spec.template;
    assert.deepEqual(
      spec.volumes?.flatMap(({ hostPath }) => hostPath ?? []),
      [
        { path: '/data/kubelet/pods', type: 'Directory' },
        { path: '/proc', type: 'Directory' },
        { path: '/data/kubelet/device-plugins', type: 'DirectoryOrCreate' },
      ],
    );
    assert.ok(spec.containers[0]?.volumeMounts?.find(({ name }) => name === 'processes')?.readOnly);
    assert.deepEqual(spec.containers[0]?.volumeMounts?.at(-1), {
      name: 'pods',
      mountPath: '/var/lib/kubelet/pods',
      mountPropagation: 'HostToContainer',
    });
    assert.deepEqual(spec.containers[0]?.securityContext?.capabilities, { drop: ['ALL'], add: ['DAC_OVERRIDE'] });
    assert.ok(!('hostPID' in spec) && !('hostNetwork' in spec) && !spec.containers[0]?.securityContext?.privileged);
  });

  test('virt-handler has a place for what guests printed, which goes with its Pod', () => {
    const { volumes, containers } = workload('virt-handler').spec.template.spec;
    const mount = containers[0]?.volumeMounts?.find(({ name }) => name === 'run-logs');
    assert.ok(containers[0]?.args?.includes(`--run-logs=${mount?.mountPath}`));
    assert.deepEqual(
      volumes?.find(({ name }) => name === 'run-logs'),
      { name: 'run-logs', emptyDir: {} },
    );
  });

  test('virt-api finds the console of a handler by the name of its port', () => {
    assert.deepEqual(
      workload('virt-handler').spec.template.spec.containers[0]?.ports?.map(({ name }) => name),
      ['console', 'health', 'metrics'],
    );
  });

  test('the labels of components name the product that they are a part of', () => {
    const product = { name: 'cloud', version: '7', component: 'machines' };
    const labels = workload('virt-api', { ...OPTIONS, product } as never).spec.template.metadata.labels ?? {};
    assert.deepEqual(
      ['part-of', 'version', 'component'].map((name) => labels[`app.kubernetes.io/${name}`]),
      ['cloud', '7', 'machines'],
    );
    assert.equal(workload('virt-api').spec.template.metadata.labels?.['app.kubernetes.io/version'], 'v1');
  });

  test('the account of Prometheus that is named may read metrics, and no other', () => {
    const bindings = (options: object) =>
      renderComponents({ ...OPTIONS, ...options } as never).filter(({ kind }) => kind === 'ClusterRoleBinding');
    assert.deepEqual(bindings({}), []);
    const [binding] = bindings({ monitor: { account: 'prometheus', namespace: 'monitoring' } }) as unknown as { subjects: object[] }[];
    assert.deepEqual(binding?.subjects, [{ kind: 'ServiceAccount', name: 'prometheus', namespace: 'monitoring' }]);
  });

  test('pull secrets and policy are those of the KubeVirt object', () => {
    const options = { ...OPTIONS, imagePullPolicy: 'Always', imagePullSecrets: ['registry'] } as const;
    const { spec } = workload('virt-api', options as never).spec.template;
    assert.deepEqual(
      [spec.containers[0]?.imagePullPolicy, (spec as { imagePullSecrets?: unknown }).imagePullSecrets],
      ['Always', [{ name: 'registry' }]],
    );
  });
});

test('withCaBundle fills in the authority where the API server needs it, and leaves the rest alone', () => {
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: {} } as KubeObject;
  const hook = {
    apiVersion: 'a/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'w' },
    webhooks: [{ clientConfig: { a: 1 } }],
  };
  assert.equal(withCaBundle(service, 'pem'), service);
  assert.deepEqual((withCaBundle(hook as KubeObject, 'pem') as unknown as typeof hook).webhooks, [
    { clientConfig: { a: 1, caBundle: 'cGVt' } },
  ]);
  const apiService = { apiVersion: 'a/v1', kind: 'APIService', metadata: { name: 'a' }, spec: { group: 'g' } } as KubeObject;
  assert.deepEqual((withCaBundle(apiService, 'pem') as unknown as { spec: object }).spec, { group: 'g', caBundle: 'cGVt' });
});
