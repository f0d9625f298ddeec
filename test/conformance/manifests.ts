/** The objects the checks are made with. */
export const NO_IMAGE = 'registry.example/nothing:1';

/** Widgets: status and scale, a printer column, a default, bounds. */
export const WIDGET_CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.ex.io' },
  spec: {
    group: 'ex.io',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList', shortNames: ['wd'], categories: ['all'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {}, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
        additionalPrinterColumns: [
          { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  size: { type: 'integer', minimum: 1, maximum: 100, description: 'How big it is.' },
                  replicas: { type: 'integer', default: 1 },
                },
              },
              status: { type: 'object', properties: { n: { type: 'integer' }, replicas: { type: 'integer' } } },
            },
          },
        },
      },
    ],
  },
};

export function widget(name: string, spec: object = { size: 5 }, metadata: object = {}): object {
  return { apiVersion: 'ex.io/v1', kind: 'Widget', metadata: { name, ...metadata }, spec };
}

export function deployment(name: string, replicas: number): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image: NO_IMAGE }] } },
    },
  };
}

export function service(name: string, ports: readonly number[]): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { selector: { app: name }, ports: ports.map((port) => ({ name: `p${port}`, port, targetPort: port })) },
  };
}

export function pod(name: string, spec: object = {}): object {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { containers: [{ name: 'c', image: NO_IMAGE }], ...spec } };
}

export function replicaSet(name: string): object {
  const { spec } = deployment(name, 0) as { spec: object };
  return { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { name }, spec };
}
