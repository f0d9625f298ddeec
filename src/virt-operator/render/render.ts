/** The objects of an installation beside those of deploy/: the components, what keeps enough of them running, and their priority. Pure. */
import type { KubeObject } from '../../api/meta.ts';
import { labelsOf, type Replicated, selectorOf } from './component-pod.ts';
import { renderMonitoring } from './monitoring.ts';
import { PRIORITY_CLASS, type RenderOptions } from './options.ts';
import { renderValidatingAdmissionPolicies } from './validating-admission-policies.ts';
import { renderVirtApi } from './virt-api.ts';
import { renderVirtController } from './virt-controller.ts';
import { renderVirtHandler } from './virt-handler.ts';

/** In the order in which they are put in place. */
export function renderComponents(options: RenderOptions): KubeObject[] {
  const replicated = (options.replicas ?? 2) > 1 ? (['virt-api', 'virt-controller'] as const) : [];
  return [
    priorityClass(),
    ...renderValidatingAdmissionPolicies(options),
    ...replicated.map((name) => disruptionBudget(name, options)),
    ...renderMonitoring(options),
    renderVirtApi(options),
    renderVirtController(options),
    renderVirtHandler(options),
  ] as KubeObject[]; // kinds that we write and never read have no type here
}

/** The authority behind virt-api is made at installation, so the manifests of deploy/ cannot know it. */
export function withCaBundle(object: KubeObject, caPem: string): KubeObject {
  const caBundle = Buffer.from(caPem).toString('base64');
  const { kind, spec, webhooks } = object as KubeObject & { spec?: object; webhooks?: readonly { clientConfig: object }[] };
  if (kind === 'APIService') return { ...object, spec: { ...spec, caBundle } } as KubeObject;
  if (!webhooks) return object;
  return { ...object, webhooks: webhooks.map((each) => ({ ...each, clientConfig: { ...each.clientConfig, caBundle } })) } as KubeObject;
}

function priorityClass() {
  return {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: PRIORITY_CLASS, labels: { 'kubevirt.io': '' } },
    value: 1_000_000_000,
    description: 'For the components of KubeVirt: without them no machine can be started, stopped or looked into.',
  };
}

function disruptionBudget(name: Replicated, options: RenderOptions) {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: `${name}-pdb`, namespace: options.namespace, labels: labelsOf(name, options) },
    spec: { minAvailable: 1, selector: selectorOf(name) },
  };
}
