import assert from 'node:assert/strict';
import { test } from 'node:test';
import { builtInSchema, definitionOf } from './built-in.ts';
import { DEFAULTS, DERIVED_DEFAULTS } from './built-in-defaults-table.ts';
import { RULES } from './built-in-rules-table.ts';
import { applyDefaults } from './defaults.ts';
import { DEFINITIONS, KINDS } from './generated/built-in.ts';
import { validate } from './validate.ts';

const pod = builtInSchema('', 'v1', 'Pod')!;

test('every kind of the table resolves, with its group, version and kind', () => {
  for (const gvk of Object.keys(KINDS)) {
    const [group = '', version = '', kind = ''] = gvk.split('/');
    assert.deepEqual(builtInSchema(group, version, kind)?.['x-kubernetes-group-version-kind'], [{ group, version, kind }]);
  }
});

test('a kind that is not built in has no schema, whatever it is called', () => {
  assert.equal(builtInSchema('kubevirt.io', 'v1', 'VirtualMachine'), undefined);
  assert.equal(builtInSchema('', 'v1', 'constructor'), undefined);
});

test('every reference of the table leads to a definition', () => {
  const references = Object.values(DEFINITIONS).flatMap((text) => [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, name]) => name ?? ''));
  assert.deepEqual(
    [...new Set(references)].filter((name) => !Object.hasOwn(DEFINITIONS, name)),
    [],
  );
});

test('the tables written by hand name definitions and fields that are there', () => {
  const fields = [
    ...Object.entries(DEFAULTS).flatMap(([name, values]) => Object.keys(values).map((field) => [name, field])),
    ...Object.entries(RULES).flatMap(([name, { required = [], mustBeSet = [], enums = {} }]) =>
      [...required, ...mustBeSet, ...Object.keys(enums)].map((field) => [name, field]),
    ),
    ...Object.keys(DERIVED_DEFAULTS).map((name) => [name, '']),
  ];
  const missing = fields.filter(([name = '', field = '']) => {
    const stored = JSON.parse(DEFINITIONS[name] ?? '{}');
    return field === '' ? !(name in DEFINITIONS) : stored.properties?.[field] === undefined;
  });
  assert.deepEqual(missing, []);
});

test('the status that defaults make up is valid for every kind', () => {
  const refused = Object.keys(KINDS).flatMap((gvk) => {
    const [group = '', version = '', kind = ''] = gvk.split('/');
    const schema = builtInSchema(group, version, kind)!;
    const causes = validate(schema, applyDefaults(schema, { metadata: { name: 'x' } }));
    return causes.filter(({ field }) => field.startsWith('status')).map(({ field }) => `${gvk} ${field}`);
  });
  assert.deepEqual(refused, []);
});

test('recursive definitions resolve as deep as one looks', () => {
  const props = definitionOf('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps');
  assert.equal(props.properties?.['allOf']?.items?.properties?.['not']?.properties?.['$ref']?.type, 'string');
});

test('merge keys survive the way from the published document', () => {
  const containers = pod.properties?.['spec']?.properties?.['containers'];
  assert.equal(containers?.['x-kubernetes-patch-merge-key'], 'name');
  assert.deepEqual(containers?.items?.properties?.['ports']?.['x-kubernetes-list-map-keys'], ['containerPort', 'protocol']);
});

test('a pod gets the defaults the real server sets in code', () => {
  const image = 'registry:5000/app';
  const limits = { cpu: 1, memory: '1Gi' };
  const spec = { containers: [{ name: 'c', image, ports: [{ containerPort: 80 }], resources: { limits, requests: { cpu: '100m' } } }] };
  const filled = applyDefaults(pod, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', creationTimestamp: null }, spec });
  assert.deepEqual(filled, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: {
      containers: [
        {
          name: 'c',
          image,
          imagePullPolicy: 'Always',
          ports: [{ containerPort: 80, protocol: 'TCP' }],
          resources: { limits, requests: { cpu: '100m', memory: '1Gi' } },
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
        },
      ],
      dnsPolicy: 'ClusterFirst',
      enableServiceLinks: true,
      restartPolicy: 'Always',
      schedulerName: 'default-scheduler',
      securityContext: {},
      terminationGracePeriodSeconds: 30,
    },
    status: {},
  });
});

test('only the tag latest, said or meant, is pulled every time', () => {
  const policies = ['a', 'a:latest', 'a:1', 'host:5000/a', 'host:5000/a:1', 'a:latest@sha256:abc'].map((image) => {
    const filled = applyDefaults(pod, { spec: { containers: [{ image }] } });
    return JSON.stringify(filled).match(/"imagePullPolicy":"(\w+)"/)?.[1];
  });
  assert.deepEqual(policies, ['Always', 'Always', 'IfNotPresent', 'Always', 'IfNotPresent', 'IfNotPresent']);
});

test('a deployment that recreates gets no rolling update', () => {
  const deployment = builtInSchema('apps', 'v1', 'Deployment')!;
  const strategyOf = (spec: object) => (applyDefaults(deployment, { spec }) as { spec: { strategy: unknown } }).spec.strategy;
  assert.deepEqual(strategyOf({ strategy: { type: 'Recreate' } }), { type: 'Recreate' });
  assert.deepEqual(strategyOf({ strategy: { rollingUpdate: { maxSurge: 1 } } }), {
    type: 'RollingUpdate',
    rollingUpdate: { maxSurge: 1, maxUnavailable: '25%' },
  });
});

test('a target port that a client in Go left open points at the port', () => {
  const service = builtInSchema('', 'v1', 'Service')!;
  const targetOf = (targetPort: unknown) => {
    const { spec } = applyDefaults(service, { spec: { ports: [{ port: 80, targetPort }] } }) as {
      spec: { ports: { targetPort: unknown }[] };
    };
    return spec.ports[0]?.targetPort;
  };
  assert.deepEqual([0, '', 8080, 'http'].map(targetOf), [80, 80, 8080, 'http']);
});

test('a service port points at itself and a namespace can be selected by name', () => {
  const service = applyDefaults(builtInSchema('', 'v1', 'Service')!, { spec: { ports: [{ port: 80 }] } });
  assert.deepEqual(service['spec'], {
    internalTrafficPolicy: 'Cluster',
    ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
    sessionAffinity: 'None',
    type: 'ClusterIP',
  });
  const namespace = applyDefaults(builtInSchema('', 'v1', 'Namespace')!, { metadata: { name: 'n', labels: { a: 'b' } } });
  assert.deepEqual(namespace['metadata'], { name: 'n', labels: { a: 'b', 'kubernetes.io/metadata.name': 'n' } });
});
