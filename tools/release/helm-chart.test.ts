import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { readOperator, withImages } from '../../src/virtctl/install/operator-manifest.ts';
import { chartFiles } from './helm-chart.ts';

const DEPLOY = resolve(import.meta.dirname, '../../deploy');

/** What Helm does with the few templates that the chart has; anything else in braces fails. */
function render(values: { readonly registry: string; readonly tag: string; readonly kubevirt: object }): unknown[] {
  const answers: Readonly<Record<string, string>> = {
    '.Values.registry': values.registry,
    '.Values.tag': values.tag,
    'toJson .Values.kubevirt': JSON.stringify(values.kubevirt),
  };
  const files = [...chartFiles()].filter(([name]) => /^(crds|templates)\//.test(name));
  return files.flatMap(([name, text]) => {
    const rendered = text.replaceAll(/\{\{ (.*?) \}\}/g, (_, action: string) => {
      assert.ok(action in answers, `${name}: {{ ${action} }}`);
      return answers[action] ?? '';
    });
    return parseAllDocuments(rendered).map((document) => document.toJS());
  });
}

const byName = (a: unknown, b: unknown) => (keyOf(a) < keyOf(b) ? -1 : 1);
function keyOf(object: unknown): string {
  const { kind, metadata } = object as { kind: string; metadata: { name: string; namespace?: string } };
  return `${kind} ${metadata.namespace} ${metadata.name}`;
}

test('the chart as it is makes what virtctl install makes', () => {
  const values = parse(chartFiles().get('values.yaml') ?? '');
  const kubevirt = parse(readFileSync(`${DEPLOY}/kubevirt-cr.yaml`, 'utf8'));
  assert.deepEqual(render(values).toSorted(byName), [...readOperator(DEPLOY), kubevirt].toSorted(byName));
});

test('with another registry and tag it makes what virtctl install makes with these', () => {
  const flags = { registry: 'images.local/kubevirt-ts', tag: 'v9' };
  const rendered = render({ ...flags, kubevirt: { imagePullPolicy: 'Always' } });
  const deployment = (objects: readonly unknown[]) => objects.find((object) => keyOf(object).startsWith('Deployment '));
  assert.deepEqual(deployment(rendered), deployment(readOperator(DEPLOY).map((object) => withImages(object, flags))));
  assert.deepEqual(rendered.map((object) => object as { kind: string; spec?: object }).find(({ kind }) => kind === 'KubeVirt')?.spec, {
    imagePullPolicy: 'Always',
  });
});

test('the definition is where Helm installs it before everything else', () => {
  const kinds = parseAllDocuments(chartFiles().get('crds/definitions.yaml') ?? '').map((document) => document.toJS().kind);
  assert.deepEqual(kinds, ['CustomResourceDefinition']);
  assert.doesNotMatch(chartFiles().get('templates/operator.yaml') ?? '', /CustomResourceDefinition$/m);
});
