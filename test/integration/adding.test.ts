/** docs/adding.md against the tree: its paths are there for all that exists already, and what exists is named by hand in no other place. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { HANDLER_ROUTES } from '../../src/api/handler/routes.ts';
import { KINDS } from '../../src/api/kubevirt/kinds-table.ts';
import { VOLUME_SOURCES } from '../../src/api/kubevirt/volumes/sources-table.ts';
import { codeOf } from '../../tools/layers/code-of.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const page = readFileSync(join(ROOT, 'docs/adding.md'), 'utf8');
/** What is written by hand and runs: no tests, nothing generated. */
const files = ['src', 'tools'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name}`)
    .filter((path) => path.endsWith('.ts') && !/\.(test|testing|contract)\.ts$|\/generated\//.test(path))
    .map((path) => ({ path, code: codeOf(readFileSync(join(ROOT, path), 'utf8'), { keepTexts: true }) })),
);

type Section = { readonly title: string; readonly promised: number; readonly places: readonly (readonly string[])[] };

/** The headings with their numbered places, and the paths of each. */
const sections: readonly Section[] = page
  .split(/^## /m)
  .slice(1)
  .map((text) => {
    const [, title = '', promised = ''] = /^(.*): (\d) places?$/m.exec(text) ?? [];
    const places = [...text.matchAll(/^\d+\. (.*)$/gm)].map(([, line = '']) => pathsIn(line));
    return { title, promised: Number(promised), places };
  });

function pathsIn(text: string): string[] {
  return [...text.matchAll(/`((?:src|tools|test|deploy|docs)\/[^`\s]*)`/g)].map(([, path = '']) => path);
}

function placesOf(title: string): string[] {
  return sections.find((section) => section.title.startsWith(title))?.places.flat() ?? [];
}

/** Where a pattern stands in code, but for the places of a section and what else it may. */
function elsewhere(pattern: RegExp, allowed: readonly string[]): string[] {
  return files.filter(({ path, code }) => pattern.test(code) && !allowed.some((each) => path.startsWith(each))).map(({ path }) => path);
}

test('there are as many places as the headings say, and not too many', () => {
  assert.deepEqual(
    sections.map(({ title, promised, places }) => [title, promised, places.length]),
    [
      ['A kind', 3, 3],
      ['A subresource that virt-handler answers', 2, 2],
      ['A command of virtctl', 1, 1],
      ['A source of volumes', 3, 3],
      ['A controller', 1, 1],
    ],
  );
});

test('every path of the page is there', () => {
  assert.deepEqual(
    pathsIn(page).filter((path) => !path.includes('NAME') && !existsSync(join(ROOT, path))),
    [],
  );
});

test('every kind is where the page says', () => {
  const [record = '', schema = ''] = placesOf('A kind');
  const names = readdirSync(join(ROOT, dirname(record))).flatMap((file) => /^(.*)-schema\.ts$/.exec(file)?.[1] ?? []);
  assert.equal(names.length, KINDS.length);
  for (const name of names) for (const path of [record, schema]) assert.ok(existsSync(join(ROOT, path.replace('NAME', name))), name);
});

test('a kind is named by what is made for it, and in no list beside', () => {
  const [record = '', , ...tables] = placesOf('A kind');
  // Subresources, controllers and commands of a kind are named for it, and are places of their own.
  const behaviour = [
    'src/virt-controller/',
    'src/virt-operator/',
    'src/virtctl/',
    'src/sdk/manifest/',
    'src/sdk/upload/',
    'src/cmd/embedded/',
  ];
  const subresources = [
    'src/api/kubevirt/vm-can.ts',
    'src/api/kubevirt/subresources',
    'src/virt-api/routes.ts',
    'src/virt-api/subresources/',
  ];
  const rights = ['tools/manifests/user-roles.ts']; // migrations are for administrators, and have a role of their own
  const allowed = [dirname(record), ...tables, ...behaviour, ...subresources, ...rights];
  // All of KubeVirt is about these two; and the third is the name of the whole.
  for (const { kind, plural } of KINDS.filter(({ kind }) => !['VirtualMachine', 'VirtualMachineInstance'].includes(kind))) {
    assert.deepEqual(elsewhere(new RegExp(`\\b${plural}\\b`), allowed), [], plural);
    if (kind !== 'KubeVirt') assert.deepEqual(elsewhere(new RegExp(`\\b${kind}(?=['"\`:])`), allowed), [], kind);
  }
});

test('a question to virt-handler is named in two places, where a rule differs, and by those who ask', () => {
  const homonyms = ['console', 'exec', 'migration', 'reset', 'vnc']; // words of Pods, of probes, of objects and of boards, too
  const streams = ['portforward', 'vnc/screenshot']; // with more behind their name in the path
  const names = Object.keys(HANDLER_ROUTES).filter((name) => ![...homonyms, ...streams].includes(name));
  const callers = [
    'src/virtctl/',
    'src/vmctl/',
    'src/ui/',
    'src/sdk/',
    'src/virt-api/subresources/logs.ts',
    'src/virt-controller/snapshot/',
    'src/virt-handler/migration/open-way.ts',
  ];
  const rights = ['tools/manifests/component-rules-table.ts']; // of components that ask
  const actions = ['src/virt-handler/vmi/guest-action.ts', 'src/virt-handler/agent/soft-reboot.ts']; // of the same names, in the guest
  const qemu = ['src/qemu/']; // where words are QEMU's
  for (const name of names) {
    const places = [...placesOf('A subresource'), 'src/api/kubevirt/vm-can.ts', ...callers, ...rights, ...actions, ...qemu];
    assert.deepEqual(elsewhere(new RegExp(`['"\`/]${name}['"\`]|^\\s+${name}:`, 'm'), places), [], name);
  }
});

test('a command is its folder: nobody imports from it, and no list has it', () => {
  const [definition = '', run = ''] = placesOf('A command');
  const folder = dirname(dirname(definition));
  const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('/run.ts'))
    .map(dirname);
  assert.ok(names.length > 30);
  for (const name of names) {
    for (const path of [definition, run]) assert.ok(existsSync(join(ROOT, path.replace('NAME', name))), path.replace('NAME', name));
    assert.deepEqual(elsewhere(new RegExp(`commands/${name}/`), [`${folder}/${name}/`]), [], name);
  }
});

test('a source of volumes is named in its places, where one is meant, and by those who write manifests', () => {
  const homonyms = ['persistentVolumeClaim', 'ephemeral', 'configMap', 'secret', 'downwardAPI', 'serviceAccount', 'dataVolume']; // kinds, too
  const [schema = '', ...others] = placesOf('A source of volumes');
  const meant = [
    'src/api/kubevirt/normalise-vmi-spec.ts', // registryDisk is containerDisk
    'src/virt-api/admission/validate-vmi-spec/validate-access-credentials.ts', // keys that come by cloud-init
    'tools/compatibility/page.ts', // what is honoured in part
    'src/qemu/convert/copied-disks.ts', // what is on one node alone
    'src/api/kubevirt/suspendable.ts', // what ends with its Pod
    'src/virt-api/admission/validate-vmi-spec/validate-volumes.ts', // at most one dump
    'src/ui/derive-setting-values.ts', // what a disk is called on the page
  ];
  const writers = ['src/virtctl/', 'src/sdk/', 'src/testing/', 'src/ui/derive-new-vm.ts'];
  const places = [`${dirname(schema)}/`, ...others, ...meant, ...writers];
  for (const name of Object.keys(VOLUME_SOURCES).filter((each) => !homonyms.includes(each)))
    assert.deepEqual(elsewhere(new RegExp(`\\b${name}\\??:|\\.${name}\\b(?!\\.path')|[{,] ${name}\\b`), places), [], name);
});

test('a controller is its folder and a line of the file that runs all', () => {
  const [controller = '', run = ''] = placesOf('A controller');
  const folder = dirname(dirname(controller));
  const names = readdirSync(join(ROOT, folder)).filter((name) => existsSync(join(ROOT, controller.replace('NAME', name))));
  assert.ok(names.length > 4);
  for (const name of names) {
    const importers = elsewhere(new RegExp(`/${name}/controller\\.ts'`), []).filter((path) => path.startsWith(folder));
    assert.deepEqual(importers, [run], name);
  }
});
