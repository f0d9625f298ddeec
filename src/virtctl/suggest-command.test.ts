import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { run } from '@stricli/core';
import { buildVirtctl, harmfulNames } from './app.ts';
import type { Context } from './context.ts';
import { COMMANDS } from './generated/commands.ts';
import { type Candidates, unknownCommand, unknownFlag } from './suggest-command.ts';

const LOADED = await Promise.all(COMMANDS.map(async ({ words, load }) => ({ words, definition: await load() })));
const GROUPS = [undefined, ...LOADED.filter(({ definition }) => 'docs' in definition).map(({ words }) => words.join(' '))];

function candidatesIn(group: string | undefined): Candidates & { readonly harmful: ReadonlySet<string> } {
  const inGroup = LOADED.filter(({ words }) => (group === undefined ? words.length === 1 : words.length === 2 && words[0] === group));
  return { group, names: inGroup.map(({ words }) => words.at(-1) ?? ''), harmful: harmfulNames(group, inGroup) };
}

const fixOf = (said: string, group?: string) => unknownCommand(said, candidatesIn(group)).split('\nfix: ')[1];

const CASES: [said: string, fix: string][] = [
  ['strat', 'did you mean start?'],
  ['log', 'did you mean logs?'],
  ['port-froward', 'did you mean port-forward?'],
  ['pasue', 'did you mean pause?'],
  ['select', 'virtctl --help lists all commands'],
  ['present', 'virtctl --help lists all commands'],
  ['shel', 'did you mean shell?'],
  ['login', 'virtctl shell NAME, or virtctl console NAME'],
  ['foo', 'virtctl --help lists all commands'],
  ['constructor', 'virtctl --help lists all commands'],
];
for (const [said, fix] of CASES) test(`${said}: ${fix}`, () => assert.equal(fixOf(said), fix));

test('in a group its own commands are meant', () => {
  const said = [fixOf('ls2', 'node'), fixOf('get', 'image'), fixOf('serch', 'image'), fixOf('kil', 'node')];
  const all = (group: string) => `virtctl ${group} --help lists all commands`;
  assert.deepEqual(said, ['did you mean ls?', all('image'), 'did you mean search?', all('node')]);
});

for (const group of GROUPS) {
  const { names, harmful } = candidatesIn(group);
  for (const name of harmful)
    test(`no word, however near, leads to ${[group, name].join(' ')}`, () => {
      const others = [...'abcdefghijklmnopqrstuvwxyz'].map((letter) => `${name}${letter}`);
      const swapped = [...name].map((_, at) => `${name.slice(0, at)}${name[at + 1] ?? ''}${name[at]}${name.slice(at + 2)}`);
      for (const said of [...others, ...swapped, name.slice(0, -1), name.slice(1), name]) {
        const meant = /^did you mean (.*)\?$/.exec(fixOf(said, group) ?? '')?.[1]?.split(' or ') ?? [];
        assert.deepEqual(
          meant.filter((each) => harmful.has(each)),
          [],
          said,
        );
      }
    });

  test(`no word of another tool is a command${group ? ` of ${group}` : ''} here`, () => {
    for (const name of names.filter((each) => !harmful.has(each))) assert.match(fixOf(name, group) ?? '', /^did you mean /);
  });
}

test('what ends a machine, a node or a disk is marked as such', () => {
  const marked = LOADED.filter(({ definition: { help } }) => 'harms' in help && help.harms).map(({ words }) => words.join(' '));
  for (const name of [
    'delete',
    'down',
    'stop',
    'node kill',
    'node drain',
    'node stop',
    'image remove',
    'memory-dump remove',
    'vmexport delete',
  ])
    assert.ok(marked.includes(name), name);
});

async function saidTo(...words: string[]): Promise<string> {
  let text = '';
  const write = (more: string) => {
    text += more;
    return true;
  };
  await run(await buildVirtctl({ first: words[0] }), words, {
    process: { stdout: { write }, stderr: { write }, env: {} },
  } as unknown as Context); // no command is reached
  return text;
}

const HELP = 'fix: the same command with --help says what it takes';
for (const [words, fix] of [
  [['ls', '--namespac', 'x'], 'fix: did you mean --namespace?'],
  [['run', '--dry-rn'], 'fix: did you mean --dry-run?'],
  [['ls', '--nope'], HELP],
  [['down', '--merge'], HELP],
  [['stop', 'web', '--forc'], HELP],
  [['delete', 'web', '--yse'], HELP],
] as const)
  test(`virtctl ${words.join(' ')}: ${fix}`, async () => {
    const flag = words.find((word) => word.startsWith('--'));
    assert.equal(await saidTo(...words), `error[USAGE]: unknown flag ${flag}\n${fix}\n`);
  });

test('no word leads to a flag that ends or removes something, or skips a question', () => {
  const flags = [...readFileSync('docs/virtctl.md', 'utf8').matchAll(/^ +(?:-\w )?\[--([a-z-]+)\] +(.*)$/gm)];
  const harmful = flags.filter(([, , brief = '']) => /^force|\b(delete|delete[sd]|remove|thrown away|is lost)\b|do not ask/i.test(brief));
  assert.ok(harmful.length > 10);
  for (const [line, name = ''] of harmful) assert.ok(unknownFlag('x', [name]).endsWith(HELP), line);
});
