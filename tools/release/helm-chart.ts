/** The Helm chart for a cluster, made of the manifests in deploy/: virt-operator, and the KubeVirt object that makes it install the rest. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { VERSION } from '../../src/cmd/version.ts';

const DEPLOY = resolve(import.meta.dirname, '../../deploy');
const IMAGE = `kubevirt-ts/kubevirt:${VERSION}`;
const CHART = 'kubevirt-ts';

/** The files of the chart by their names. */
export function chartFiles(): ReadonlyMap<string, string> {
  const documents = readFileSync(join(DEPLOY, 'kubevirt-operator.yaml'), 'utf8').split(/^---\n/m);
  const isDefinition = (text: string) => /^kind: CustomResourceDefinition$/m.test(text);
  const operator = escaped(documents.filter((text) => !isDefinition(text)).join('---\n')).replaceAll(
    IMAGE,
    '{{ .Values.registry }}/kubevirt:{{ .Values.tag }}',
  );
  const kubevirt = readFileSync(join(DEPLOY, 'kubevirt-cr.yaml'), 'utf8').replace(/^spec: .*$/m, 'spec: {{ toJson .Values.kubevirt }}');
  return new Map([
    ['Chart.yaml', chart()],
    ['values.yaml', values()],
    ['crds/definitions.yaml', documents.filter(isDefinition).join('---\n')],
    ['templates/operator.yaml', operator],
    ['templates/kubevirt.yaml', kubevirt],
  ]);
}

/** Writes the chart as `helm package` does; returns its path. */
export function writeHelmChart({ into, seconds }: { readonly into: string; readonly seconds: number }): string {
  const work = mkdtempSync(join(tmpdir(), 'kubevirt-ts-chart-'));
  try {
    for (const [name, text] of chartFiles()) {
      mkdirSync(dirname(join(work, CHART, name)), { recursive: true });
      writeFileSync(join(work, CHART, name), text);
    }
    const path = join(into, `${CHART}-chart-${VERSION.slice(1)}.tgz`);
    const fixed = ['--sort=name', `--mtime=@${seconds}`, '--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX'];
    execFileSync('tar', ['-C', work, '-cf', path, ...fixed, '--use-compress-program=gzip -n', CHART]);
    return path;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Braces of descriptions are text, not templates. */
function escaped(text: string): string {
  return text.replaceAll('{{', '{{ `{{` }}');
}

function chart(): string {
  return [
    'apiVersion: v2',
    `name: ${CHART}`,
    `version: ${VERSION.slice(1)}`,
    `appVersion: ${VERSION}`,
    'type: application',
    'description: Virtual machines as Kubernetes objects, run by QEMU',
    'kubeVersion: ">=1.25.0-0"',
    '',
  ].join('\n');
}

function values(): string {
  return [
    '# Where the images are: the names of all begin with it.',
    'registry: kubevirt-ts',
    `tag: ${VERSION}`,
    '# The spec of the KubeVirt object; docs/kubernetes.md says what it may hold.',
    'kubevirt: {}',
    '',
  ].join('\n');
}
