import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { LONGER_PAGE, taskCommands, taskPages } from './task-pages.ts';

const REFERENCE = readFileSync('docs/virtctl.md', 'utf8');

/** What the reference says of a command, found by its first words. */
function referenceOf(words: readonly string[]): string | undefined {
  for (const count of [2, 1]) {
    const [, section] = REFERENCE.split(`\n## virtctl ${words.slice(0, count).join(' ')}\n`);
    if (section !== undefined) return section.split('\n## ')[0];
  }
  return undefined;
}

test('the first page lists every page, and no other', () => {
  const pages = new Set(taskCommands().map(({ page }) => page));
  assert.ok(pages.delete(LONGER_PAGE));
  assert.deepEqual([...pages].sort(), taskPages().sort());
});

test('every command of virtctl on a task page is there, with its flags', () => {
  const wrong = taskCommands().flatMap(({ page, line }) => {
    const words = line.split(' -- ')[0]?.split(/\s+/) ?? [];
    if (words[0] !== 'virtctl') return [];
    const reference = referenceOf(words.slice(1));
    if (reference === undefined) return [`${page}: ${line}`];
    return words.flatMap((word) => {
      const flag = /^--[a-z-]+/.exec(word)?.[0];
      if (flag === undefined || flag === '--kubeconfig') return [];
      const spelled = flag.startsWith('--no-') ? `--${flag.slice(5)}` : flag;
      return reference.includes(spelled) ? [] : [`${page}: ${flag} of ${line}`];
    });
  });
  assert.deepEqual(wrong, []);
});

test('every error id of the troubleshooting page is one that is said', () => {
  const page = readFileSync('docs/tasks/troubleshooting.md', 'utf8');
  const ids = [...page.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, id = '']) => id);
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.includes('.test'))
    .map((path) => readFileSync(join('src', path), 'utf8'))
    .join('\n');
  assert.ok(ids.length > 10);
  assert.deepEqual([ids, ids.filter((id) => !sources.includes(`'${id}'`))], [[...ids].sort(), []]);
});

test('the links of the task pages lead somewhere', () => {
  const broken = ['README.md', ...taskPages()].flatMap((page) => {
    const text = readFileSync(join('docs/tasks', page), 'utf8');
    const links = [...text.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)].map(([, link = '']) => link);
    return links.filter((link) => !existsSync(join('docs/tasks', link))).map((link) => `${page}: ${link}`);
  });
  assert.deepEqual(broken, []);
});
