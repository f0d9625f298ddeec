import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { changeIndex, createLayout, MANIFEST_TYPE, NAME_ANNOTATION } from '../../images/layout.ts';
import { buildVirtctl } from '../app.ts';
import type { Context } from '../context.ts';
import { propose } from './propose.ts';

const context: Context = {
  process: { ...process, env: { KUBECONFIG: '/nowhere' } },
  home: '/nowhere',
  cache: '/nowhere',
  program: '/nowhere/virtctl',
  embeddedProgram: '',
  examples: '',
  page: '/nowhere',
  docs: '/nowhere',
  manifests: '',
  version: 'v0',
};

async function proposed(...words: string[]): Promise<string[]> {
  const lines = await propose(await buildVirtctl(), words, context);
  return lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('\t')[0] ?? '');
}

const CASES: [words: string[], expected: string[]][] = [
  [['kube'], ['kubeconfig']],
  [
    ['create', ''],
    ['vm', 'instancetype', 'preference', 'clone'],
  ],
  [['ls', '-o', 'y'], ['yaml']],
  [['down', '--pu'], ['--purge']],
  [['completion', 'z'], ['zsh']],
];
for (const [words, expected] of CASES) {
  test(`"${words.join(' ')}" is completed with ${expected.join(', ')}`, async () => assert.deepEqual(await proposed(...words), expected));
}

test('without a word all commands are proposed, hidden ones left out', async () => {
  const commands = await proposed();
  assert.ok(commands.includes('console') && commands.includes('up'));
  assert.ok(!commands.some((command) => command.startsWith('_')));
});

test('without a cluster there are no names, and no complaint', async () => {
  assert.deepEqual(await proposed('console', 'x'), []);
  assert.deepEqual(await proposed('image', 'push', 'x'), []);
});

test('names of images are those of the store', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'names-'));
  t.after(() => rmSync(home, { recursive: true }));
  createLayout(join(home, 'images'));
  const descriptor = { mediaType: MANIFEST_TYPE, digest: `sha256:${'0'.repeat(64)}`, size: 1 };
  const names = ['localhost/guests/tiny:latest', 'quay.io/team/disk:1'];
  changeIndex(join(home, 'images'), () => names.map((name) => ({ ...descriptor, annotations: { [NAME_ANNOTATION]: name } })));
  for (const command of ['push', 'tag', 'remove']) {
    const lines = await propose(await buildVirtctl(), ['image', command, 'q'], { ...context, home });
    assert.match(lines, /^quay\.io\/team\/disk:1\t.*\n$/);
  }
});
