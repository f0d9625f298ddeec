import assert from 'node:assert/strict';
import { test } from 'node:test';
import { declarationOf, sdkReference } from './sdk-reference.ts';

test('a declaration comes with what is said of it, and ends where it ends', () => {
  const text = `/** Of another. */\nexport type Other = string;\n\n/** What it is:\n * two lines. */\nexport type One = {\n  /** A part; with a semicolon. */\n  a(): void;\n};\n\nconst X = 1;\n`;
  assert.equal(
    declarationOf(text, 'One'),
    '/** What it is:\n * two lines. */\nexport type One = {\n  /** A part; with a semicolon. */\n  a(): void;\n};',
  );
  assert.equal(declarationOf(text, 'Other'), '/** Of another. */\nexport type Other = string;');
  assert.throws(() => declarationOf(text, 'Missing'), /no type Missing/);
});

test('the reference has every type that a program gets in its hands, with its calls', () => {
  const reference = sdkReference();
  const titles = [...reference.matchAll(/^### `(\w+)`/gm)].map(([, name]) => name);
  for (const name of [
    'connect',
    'KubeVirt',
    'Kind',
    'Listing',
    'Machine',
    'MachineActions',
    'NewMachine',
    'ByteStream',
    'ExecResult',
    'Followed',
    'Awaited',
  ])
    assert.ok(titles.includes(name), name);
  for (const call of ['waitFor(', 'exec(', 'console(', 'start(', 'stop(', 'follow(', 'list(', 'scratch('])
    assert.ok(reference.includes(call), call);
});
