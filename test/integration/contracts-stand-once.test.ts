/**
 * What two components agree on is written once, in src/api: a mount, a variable, a socket, a path, a word of a protocol. The strings are taken
 * from the modules of the contracts themselves, so a new one is looked for from the day it is there. Comments may name what they like.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { HANDLER_ROUTES } from '../../src/api/handler/routes.ts';
import { claimMount } from '../../src/api/launcher/mounts.ts';

const SRC = join(import.meta.dirname, '../../src');
const MODULES = [
  ...readdirSync(join(SRC, 'api/launcher'))
    .filter((name) => !name.endsWith('.test.ts'))
    .map((name) => `api/launcher/${name}`),
  ...['api/core/pod-folder-layout.ts', 'api/core/service-account-mount.ts', 'api/handler/turns.ts', 'api/kubevirt/subresources.ts'],
  // One that is needed below the contracts.
  'base/node/sandbox-path.ts',
];
/** Parts of a contract that are words of something else, too. */
const HOMONYMS = [
  'virt-launcher', // the component and its image
  'container-disks', // a flag of virt-controller
  'hotplug-disk', // whose resources the KubeVirt object says
  ...['v1', 'v1alpha3'], // versions of other groups
];
/** What a function that builds a name or a path is asked for. */
const PLACEHOLDER = 'PLACEHOLDER';

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !/\.test(ing)?\.ts$/.test(name))
  .map((name) => ({ name, text: withoutComments(readFileSync(join(SRC, name), 'utf8')) }));

for (const module of MODULES) {
  test(`what ${module} says is said nowhere else`, async () => {
    const found = textsOf(await import(join(SRC, module))).filter((text) => !HOMONYMS.includes(text));
    assert.deepEqual(
      found.map((text) => [text, filesWith((code) => code.includes(text))]).filter(([, where = []]) => where.length > 1),
      [],
    );
  });
}

test('what a function builds is looked for, too', () => {
  assert.deepEqual(textsOf({ claimMount }), [claimMount('').mountPath]);
});

test('the paths of virt-handler are in its table of routes alone', () => {
  const paths = Object.values(HANDLER_ROUTES).map(({ path }) => path);
  const patterns = paths.map((path) => new RegExp(`(?<!/apis?/[^/]*)${path.replaceAll(/:\w+/g, '[^/\'"`]+')}`));
  const where = filesWith((code) => patterns.some((pattern) => pattern.test(code)));
  assert.deepEqual(where, ['api/handler/routes.ts']);
});

function filesWith(holds: (code: string) => boolean): string[] {
  return files.filter(({ text }) => holds(text)).map(({ name }) => name);
}

/** Texts that tell of their contract: not those that are a plain word, and of those that a function builds only whole parts of paths. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return /[^a-z]/.test(value) ? [value] : [];
  if (typeof value === 'function')
    return builtBy(value as (...names: string[]) => unknown) // which throws when it is not
      .flatMap((text) => text.split(PLACEHOLDER))
      .filter((part) => /[/~]/.test(part) && part.length > 5);
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

/** Nothing of a function that wants objects: it asks a question, and builds no name. */
function builtBy(build: (...names: string[]) => unknown): string[] {
  try {
    return textsIn(build(...Array.from({ length: build.length }, () => PLACEHOLDER)));
  } catch {
    return [];
  }
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function withoutComments(code: string): string {
  return code.replaceAll(/(^|\s)\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
}
