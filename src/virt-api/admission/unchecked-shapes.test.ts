/** Machines are completed before their schema is checked: whatever stands at any place of them is left for the schema to refuse, and nothing throws. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_CONFIGURATION } from '../../api/kubevirt/configuration/cluster-configuration.ts';
import { specSchema } from '../../api/kubevirt/kinds/virtual-machine-schema.ts';
import { KINDS } from '../../api/kubevirt/kinds-table.ts';
import { vmiSpecSchema } from '../../api/kubevirt/vmi-spec-schema.ts';
import { type StructuralSchema, structural } from '../../api/schema/structural.ts';
import { systemClock } from '../../base/clock.ts';
import { ApiError } from '../../base/errors.ts';
import { isObject, type JsonObject } from '../../base/json.ts';
import { silentLogger } from '../../base/log.ts';
import { FakeApi } from '../fake-api.testing.ts';
import { expandGiven } from '../subresources/expand-spec.ts';
import { answerReview, isReviewPath } from './answer-review.ts';
import { decideMutation } from './decide-mutation.ts';
import { mutateVm } from './mutate-vm.ts';

type Path = readonly (string | number)[];

const WRONG: readonly unknown[] = [null, true, 0, 'text', [], [null], ['text'], [[]], {}, { a: 1 }, { toString: 1 }];
const NOBODY = { get: async () => undefined };

test('an instance with anything at any place of its spec is completed or left as it is', () => {
  const spec = fullValue(structural(vmiSpecSchema));
  for (const [path, wrong] of wrongPlaces(spec))
    attempt(path, wrong, () => {
      const object = { metadata: { name: 'a' }, spec: replaced(spec, path, wrong) };
      decideMutation({ ...CREATED, object: object as JsonObject });
    });
});

test('a machine with anything at any place of its spec is completed or left as it is', async () => {
  const spec = fullValue(structural(specSchema));
  for (const [path, wrong] of wrongPlaces(spec)) {
    const object = { metadata: { name: 'a', namespace: 'default' }, spec: replaced(spec, path, wrong) };
    await mutateVm(object as JsonObject, NOBODY).catch((error) => assert.fail(said(path, wrong, error)));
  }
});

test('a machine with anything at any place of it is expanded, or refused: no schema has looked at it', async () => {
  const template = {
    spec: { ...(fullValue(structural(vmiSpecSchema)) as object), volumes: [{ name: 'text', emptyDisk: { capacity: '1Gi' } }] },
  };
  const chosen = { name: 'text', kind: 'text', inferFromVolume: 'text' };
  const spec = {
    runStrategy: 'Halted',
    instancetype: chosen,
    preference: chosen,
    template,
    dataVolumeTemplates: [{ metadata: {}, spec: {} }],
  };
  const whole = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata: { name: 'a', namespace: 'default', labels: {} }, spec };
  const { client } = new FakeApi();
  for (const [path, wrong] of wrongPlaces(whole)) {
    const body = JSON.stringify(replaced(whole, path, wrong));
    const request = new Request('https://virt-api/', { method: 'PUT', body });
    const call = {
      client,
      configuration: DEFAULT_CONFIGURATION,
      log: silentLogger,
      namespace: 'default',
      name: '',
      user: 'me',
      handlerTls: {},
    };
    await expandGiven({ ...call, request }).catch((error) => {
      if (!(error instanceof ApiError) || error.code >= 500) assert.fail(said(path, wrong, error));
    });
  }
});

const WORLD = {
  client: new FakeApi().client,
  clock: systemClock,
  configuration: { current: DEFAULT_CONFIGURATION, known: Promise.resolve(), onChange: () => () => {} },
  presets: { in: async () => [] },
  log: silentLogger,
};

test('whoever calls a webhook about anything at any place of any kind gets an answer', async () => {
  const specs: Readonly<Record<string, unknown>> = {
    VirtualMachine: { template: { spec: { domain: { devices: {} } } } },
    VirtualMachineInstance: fullValue(structural(vmiSpecSchema)),
  };
  for (const { kind, plural } of KINDS) {
    const whole = { kind, metadata: { name: 'a', namespace: 'default', labels: {}, annotations: {} }, spec: specs[kind] ?? { a: 1 } };
    for (const [path, wrong] of wrongPlaces(whole))
      await reviewed(plural, JSON.stringify(replaced(whole, path, wrong)), said(path, wrong, kind));
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`; // deeper than anybody goes who walks
    for (const spec of [deep, `{"selector":${deep}}`, `{"template":${deep},"domain":${deep}}`])
      await reviewed(plural, `{"kind":"${kind}","metadata":{"name":"a"},"spec":${spec}}`, `deep ${kind}`);
  }
});

async function reviewed(plural: string, object: string, what: string): Promise<void> {
  const body = `{"kind":"AdmissionReview","request":{"uid":"1","operation":"CREATE","userInfo":{"username":"ada"},"object":${object}}}`;
  for (const path of [`/validate/${plural}`, `/mutate/${plural}`].filter(isReviewPath))
    await answerReview(new Request('https://virt-api/', { method: 'POST', body }), path, WORLD).catch((error) => {
      if (!(error instanceof ApiError) || error.code >= 500) assert.fail(`${path}: ${what}: ${error}`);
    });
}

const CREATED = {
  operation: 'CREATE',
  oldObject: undefined,
  isComponent: false,
  newUuid: '7b6a9d3e-5c8f-4a3b-9d53-0d6a4ee4a001',
  configuration: DEFAULT_CONFIGURATION,
  now: '2026-01-01T00:00:00Z',
} as const;

/** Every field there, every list with one item. */
function fullValue(schema: StructuralSchema): unknown {
  const {
    type,
    properties,
    items,
    enum: words,
  } = schema as {
    type?: string;
    properties?: Record<string, StructuralSchema>;
    items?: StructuralSchema;
    enum?: unknown[];
  };
  if (properties) return Object.fromEntries(Object.entries(properties).map(([name, child]) => [name, fullValue(child)]));
  if (items) return [fullValue(items)];
  if (words) return words[0];
  const values: Record<string, unknown> = { string: 'text', integer: 1, number: 1, boolean: true, array: [] };
  return values[type ?? ''] ?? {};
}

function* wrongPlaces(value: unknown, at: Path = []): Generator<[path: Path, wrong: unknown]> {
  for (const wrong of WRONG) yield [at, wrong];
  if (Array.isArray(value)) for (const [index, child] of value.entries()) yield* wrongPlaces(child, [...at, index]);
  else if (isObject(value)) for (const [name, child] of Object.entries(value)) yield* wrongPlaces(child, [...at, name]);
}

function replaced(value: unknown, [name, ...rest]: Path, by: unknown): unknown {
  if (name === undefined) return by;
  if (Array.isArray(value)) return value.map((child, index) => (index === name ? replaced(child, rest, by) : child));
  const object = value as JsonObject; // the path leads through it
  return { ...object, [name]: replaced(object[name], rest, by) };
}

function attempt(path: Path, wrong: unknown, act: () => void): void {
  try {
    act();
  } catch (error) {
    assert.fail(said(path, wrong, error));
  }
}

function said(path: Path, wrong: unknown, error: unknown): string {
  return `spec.${path.join('.')} = ${JSON.stringify(wrong)}: ${error}`;
}
