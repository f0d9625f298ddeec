import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { test } from 'node:test';
import { UserError } from '../base/errors.ts';
import { testDeps } from './deps.testing.ts';
import { depsOf } from './deps-of-process.ts';
import { renderError } from './failure.ts';
import { harmlessOutput } from './harmless-output.ts';
import { formatEntry } from './logs/format-entry.ts';
import { createProgress } from './progress.ts';
import { renderTable } from './table.ts';

/** Clears the screen, sets a title, writes over the line, begins a sequence with one character, turns the direction. */
const HOSTILE = '\u001b[2J\u001b]0;owned\u0007\rok\u009b31m\u202e';
const OBEYED = /(?!\n)[\p{Cc}\p{Cf}]/u;

function recorded(isTTY: boolean) {
  const stream = Object.assign(new PassThrough(), { isTTY });
  let said = '';
  stream.on('data', (chunk) => (said += chunk));
  return { stream, said: () => said };
}

test('text on a terminal is shown, bytes pass', () => {
  const { stream, said } = recorded(true);
  const output = harmlessOutput(stream);
  output.write(`a${HOSTILE}\n`);
  output.write(Buffer.from('\u001b[2K'));
  assert.equal(said(), 'a\\u001b[2J\\u001b]0;owned\\u0007\\u000dok\\u009b31m\\u202e\n\u001b[2K');
});

test('a stream of bytes can be led into it', async () => {
  const { stream, said } = recorded(false);
  const source = new PassThrough();
  source.end(Buffer.from('\u001bx'));
  await pipeline(source, harmlessOutput(stream), { end: false });
  assert.equal(said(), '\u001bx');
});

test('a program of virtctl has such outputs; data for another program stays what it is', () => {
  const [stdout, stderr] = [recorded(true), recorded(false)];
  const piped = recorded(false);
  const context = (out: PassThrough) => ({
    process: { stdin: process.stdin, stdout: out, stderr: stderr.stream, env: {}, cwd: () => '/' },
  });
  const of = (out: PassThrough) => depsOf(context(out) as unknown as Parameters<typeof depsOf>[0]); // only what depsOf reads
  of(stdout.stream).stdout.write(HOSTILE);
  of(stdout.stream).stderr.write(HOSTILE);
  of(piped.stream).stdout.write(HOSTILE);
  assert.deepEqual([OBEYED.test(stdout.said()), OBEYED.test(stderr.said()), piped.said()], [false, false, HOSTILE]);
});

const RENDERED: readonly (readonly [what: string, render: () => string])[] = [
  [
    'a table',
    () =>
      renderTable([
        ['NAME', 'STATUS'],
        ['a', `${HOSTILE}\nforged  Running`],
      ]),
  ],
  ['an error that quotes a guest', () => renderError(new UserError('BAD', HOSTILE, { why: HOSTILE, fix: HOSTILE }))],
  ['an error of our own', () => renderError(new Error(HOSTILE))],
  ['an entry of the log', () => formatEntry(JSON.stringify({ level: 'info', message: HOSTILE, time: HOSTILE, by: HOSTILE }), 'info') ?? ''],
  ['what a crash printed', () => formatEntry(HOSTILE, 'info') ?? ''],
];
for (const [what, render] of RENDERED) {
  test(`${what} is harmless on any output`, () => assert.doesNotMatch(render(), OBEYED));
}

test('a cell of a table makes no row of its own', () => {
  assert.equal(renderTable([['a\nb', 'c']]), 'a\\u000ab  c\n');
});

test('the result of a step moves no cursor but by our own sequences', async () => {
  const { stream, said } = recorded(true);
  await createProgress(harmlessOutput(stream), { now: () => 0 }, {}).step('vm', async () => `up${HOSTILE}`);
  const ours = ['\r\u001b[2K', '\u001b[2m', '\u001b[32m', '\u001b[0m'];
  assert.doesNotMatch(
    ours.reduce((text, sequence) => text.replaceAll(sequence, ''), said()),
    OBEYED,
  );
});

const AGENT = { guestAgentVersion: HOSTILE, os: { name: HOSTILE }, items: [{ userName: HOSTILE }] };
const VMI = '/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances/hostile';
for (const [command, path] of [
  ['guestosinfo', 'guestosinfo'],
  ['userlist', 'userlist'],
  ['fslist', 'filesystemlist'],
] as const) {
  test(`virtctl ${command} on a terminal shows what an agent says without obeying it`, async () => {
    const { stream, said } = recorded(true);
    const { run } = await import(`./commands/${command}/run.ts`);
    await run(testDeps({ [`GET ${VMI}/${path}`]: AGENT }, { stdout: harmlessOutput(stream) }).deps, {}, 'hostile');
    assert.doesNotMatch(said(), OBEYED);
    assert.deepEqual(JSON.parse(said()), AGENT);
  });
}

test('virtctl exec obeys nothing on a terminal and hands on every byte elsewhere', async () => {
  const { run } = await import('./commands/exec/run.ts');
  const encoded = Buffer.from(HOSTILE).toString('base64');
  const answers = { [`PUT ${VMI}/exec`]: { exitCode: 0, stdout: encoded, stderr: '', isTruncated: false } };
  const [terminal, file] = [recorded(true), recorded(false)];
  for (const { stream } of [terminal, file]) {
    await run(testDeps(answers, { stdout: harmlessOutput(stream) }).deps, { timeout: 1, stdin: false }, 'hostile', 'ls');
  }
  assert.doesNotMatch(terminal.said(), OBEYED);
  assert.equal(file.said(), HOSTILE);
});
