import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { documentSources, pictureNames } from './build.ts';
import { findSections } from './find-sections.ts';
import { fileOf, renderSite } from './site.ts';

const site = (pages: Record<string, string>) => renderSite(new Map(Object.entries(pages)));

test('every link between our documents leads to a page and to a heading of it', () => {
  const { pages, broken } = renderSite(documentSources());
  assert.deepEqual(broken, []);
  for (const [name, html] of pages)
    for (const [, href = ''] of html.matchAll(/<(?:a|link|script)[^>]* (?:href|src)="([^"]*)"/g)) {
      if (/^(?:https?:|mailto:)/.test(href)) continue;
      const [file, anchor] = href.split('#');
      const target = file === '' ? html : pages.get(file ?? '');
      assert.ok(target !== undefined || /^(?:style\.css|search(?:-index)?\.js)$/.test(href), `${name}: ${href}`);
      if (anchor) assert.ok(target?.includes(` id="${anchor}"`), `${name}: ${href}`);
    }
});

test('every picture that a document shows is there, small enough to be fetched by everybody, and says in words what it shows', () => {
  const shown = [...documentSources()].flatMap(([path, text]) =>
    [...text.matchAll(/!\[([^\]]*)\]\(([^)]+)\)/g)].map(([, words = '', href = '']) => ({ words, file: join(dirname(path), href) })),
  );
  assert.deepEqual([...new Set(shown.map(({ file }) => basename(file)))].sort(), pictureNames().sort());
  for (const { words, file } of shown) assert.ok(words.length > 20 && statSync(file).size < 150_000, file);
});

test('pages of all folders are in one, under names of their own', () => {
  const files = [...documentSources().keys()].map(fileOf);
  assert.equal(new Set(files).size, files.length);
  assert.deepEqual(['README.md', 'docs/tasks/README.md', 'docs/install.md', 'SECURITY.md'].map(fileOf), [
    'index.html',
    'tasks-readme.html',
    'install.html',
    'project-security.html',
  ]);
});

test('a link to a page that is not there, or to a heading that it does not have, is named', () => {
  const { broken } = site({
    'README.md': '# A\n\n[b](docs/b.md) [c](docs/c.md) [d](docs/b.md#none) [e](#a) [f](src/x.ts)',
    'docs/b.md': '# B\n\n[a](../README.md#a)',
  });
  assert.deepEqual(broken, ['README.md: docs/c.md', 'README.md: docs/b.md#none']);
});

test('a folder of documents is its README, or the first of them', () => {
  const { pages } = site({ 'README.md': '# A\n\n[b](docs/b) [c](docs/c/)', 'docs/b/README.md': '# B', 'docs/c/1.md': '# C' });
  const links = [...(pages.get('index.html') ?? '').matchAll(/<p>.*<\/p>/g)].join();
  assert.match(links, /href="b-readme\.html">b<.*href="c-1\.html">c</);
});

test('headings have the anchors of code hosts, each its own', () => {
  const html = site({ 'README.md': '# A `b`: c, d!\n\n## Same\n\n## Same\n' }).pages.get('index.html') ?? '';
  assert.deepEqual(
    [...html.matchAll(/<h\d id="([^"]*)"/g)].map(([, id]) => id),
    ['a-b-c-d', 'same', 'same-1'],
  );
});

test('a file of the project that is no page is named, not linked', () => {
  const html = site({ 'README.md': '# A\n\n[x](src/x.ts)' }).pages.get('index.html') ?? '';
  assert.match(html, /<span class="file" title="src\/x\.ts">x<\/span>/);
});

test('a section is found by all of its words, by its heading first, with what is around them', () => {
  const { sections } = site({
    'README.md': '# Start\n\nAbout folders and ports.\n\n## Ports\n\nOne `port` for each.\n\n| a | b |\n|---|---|\n| snapshot | two |\n',
    'docs/b.md': '# Folders\n\n- shared with the guest\n',
  });
  const places = (typed: string) => findSections(sections, typed).map(({ place }) => place);
  assert.deepEqual(places('folder'), ['b.html', 'index.html']);
  assert.deepEqual(places('PORT each'), ['index.html#ports']);
  assert.deepEqual(places('snapshot'), ['index.html#ports']);
  assert.deepEqual([places('folder nothing'), places('  ')], [[], []]);
  assert.match(findSections(sections, 'shared')[0]?.excerpt ?? '', /shared with the guest/);
});

test('what people look for in the real documents is found', () => {
  const { sections } = renderSite(documentSources());
  for (const [typed, file] of [
    ['mount folder', 'tasks-shell-and-files.html'],
    ['kubeconfig merge', ''],
    ['snapshot', ''],
  ] as const) {
    const found = findSections(sections, typed).map(({ place }) => place);
    assert.ok(found.length > 0 && (file === '' || found.some((place) => place.startsWith(file))), `${typed}: ${found}`);
  }
});
