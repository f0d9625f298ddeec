/** The SDK as somebody has it who has installed the package: without the clone, with types. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { SDK_EXPORTS, stageSdk } from './sdk.ts';

const PROJECT = resolve(import.meta.dirname, '../..');
const MAX_BROWSER_BYTES = 30_000;
const PROGRAM = `
import { connect, isApiError, type VirtualMachine } from 'kubevirt-ts';
const kubevirt = await connect({ kubeconfig: process.argv[2] ?? '' });
for await (const { object } of kubevirt.vms.follow()) {
  const vm: VirtualMachine = object;
  const cores: number | undefined = vm.spec.template.spec.domain.cpu?.cores;
  // @ts-expect-error it is a number
  const wrong: string | undefined = vm.spec.template.spec.domain.cpu?.cores;
  await using scratch = await kubevirt.scratch({ name: 'x', image: 'y' });
  const { exitCode }: { exitCode: number } = await scratch.exec(['true']).catch((error) => {
    throw isApiError(error, 'NotFound') ? error : new Error('other');
  });
  console.log(cores, wrong, exitCode);
}`;

let folder: string;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kubevirt-ts-sdk-'));
  const installed = join(folder, 'node_modules/kubevirt-ts');
  mkdirSync(installed, { recursive: true });
  await stageSdk(installed);
  writeFileSync(join(installed, 'package.json'), JSON.stringify({ name: 'kubevirt-ts', type: 'module', exports: SDK_EXPORTS }));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'program.ts'), PROGRAM);
});
after(() => rmSync(folder, { recursive: true, force: true }));

for (const conditions of [[], ['--customConditions', 'browser']]) {
  const where = conditions.length > 0 ? 'a browser' : 'Node';
  test(`a program for ${where} is checked against the types of the package`, () => {
    const program = where === 'Node' ? PROGRAM : PROGRAM.replace(/connect\(.*\)/, "connect({ token: 't' })");
    writeFileSync(join(folder, 'program.ts'), program);
    const flags = ['--ignoreConfig', '--noEmit', '--strict', '--target', 'esnext', '--module', 'nodenext', '--skipLibCheck'];
    const types = ['--typeRoots', join(PROJECT, 'node_modules/@types'), '--types', 'node', ...conditions];
    const tsc = [join(PROJECT, 'node_modules/typescript/bin/tsc'), ...flags, ...types, 'program.ts'];
    const { status, stdout } = spawnSync(process.execPath, tsc, { cwd: folder, encoding: 'utf8' });
    assert.equal(status, 0, stdout);
  });
}

test('Node takes it without anything else, and says what is wrong in a sentence', () => {
  const program =
    "import { connect } from 'kubevirt-ts'; await connect({ kubeconfig: '/nonexistent' }).catch((error) => console.log(error.message));";
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd: folder, encoding: 'utf8' });
  assert.match(said, /\/nonexistent/);
});

test('for a browser it has at most 30 kB, and nothing of Node', () => {
  const file = readFileSync(join(folder, 'node_modules/kubevirt-ts/lib/sdk-browser.mjs'));
  assert.ok(gzipSync(file).length <= MAX_BROWSER_BYTES, `${gzipSync(file).length} bytes`);
  assert.doesNotMatch(file.toString('utf8'), /node:/);
});
