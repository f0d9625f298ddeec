/** The pages of the documentation: Markdown of this project in, files of one flat folder out. Pure. */
import { Marked, type Token, type Tokens } from 'marked';
import type { Section } from './find-sections.ts';

/** Markdown by its path in the project. */
export type Sources = ReadonlyMap<string, string>;
export type Site = {
  /** HTML by file name. */
  readonly pages: ReadonlyMap<string, string>;
  readonly sections: readonly Section[];
  /** Links that lead to nothing: the page and what it says. */
  readonly broken: readonly string[];
};
type Page = {
  readonly file: string;
  readonly title: string;
  readonly anchors: readonly string[];
  readonly tokens: Token[];
  readonly path: string;
};

const FIRST = 'README.md';
/** A part of a hundred pages, listed beside its own only. */
const LONG = 'Decisions';
/** Of the list beside every page, in this order; a page is in the first part whose pattern fits. */
const PARTS: readonly (readonly [string, RegExp])[] = [
  ['Start', /^(?:README|docs\/install)\.md$/],
  ['Tasks', /^docs\/tasks\//],
  ['Guides', /^docs\/(?:disks|images|instance-types|kubernetes|metrics|migration|releases|typescript|vmctl|web-page)\.md$/],
  ['Reference', /^docs\/(?!adr\/)/],
  ['Project', /^[^/]+$/],
  [LONG, /^docs\/adr\//],
];

export function renderSite(sources: Sources): Site {
  const pages = new Map([...sources].map(([path, text]) => [path, readPage(path, text)]));
  const broken: string[] = [];
  const html = [...pages.values()].map((page) => [page.file, wholePage(page, pages, bodyOf(page, { pages, sources, broken }))] as const);
  return { pages: new Map(html), sections: [...pages.values()].flatMap(sectionsOf), broken };
}

/** `docs/tasks/images.md` is `tasks-images.html`: one folder, without places to go wrong in. */
export function fileOf(path: string): string {
  if (path === FIRST) return 'index.html';
  return `${path
    .replace(/^(?:docs\/|(?=[^/]*$))/, (folder) => (folder === '' ? 'project-' : ''))
    .replace(/\.md$/, '')
    .replaceAll('/', '-')
    .toLowerCase()}.html`;
}

function readPage(path: string, text: string): Page {
  const tokens = new Marked().lexer(text);
  const headings = tokens.filter((token): token is Tokens.Heading => token.type === 'heading');
  const title = headings[0] ? plain(headings[0].tokens) : path;
  return { file: fileOf(path), path, title, tokens, anchors: anchorsOf(headings) };
}

/** As code hosts make them, which is what the links in the documents were written for. */
function anchorsOf(headings: readonly Tokens.Heading[]): string[] {
  const seen = new Map<string, number>();
  return headings.map(({ tokens }) => {
    const words = plain(tokens)
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_\- ]/gu, '')
      .replaceAll(' ', '-');
    const count = seen.get(words) ?? 0;
    seen.set(words, count + 1);
    return count === 0 ? words : `${words}-${count}`;
  });
}

type Around = { readonly pages: ReadonlyMap<string, Page>; readonly sources: Sources; readonly broken: string[] };

function bodyOf(page: Page, around: Around): string {
  const anchors = page.anchors.values();
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const anchor = escaped(anchors.next().value ?? '');
        return `<h${depth} id="${anchor}"><a class="anchor" href="#${anchor}">${this.parser.parseInline(tokens)}</a></h${depth}>\n`;
      },
      image({ href, text }) {
        return `<img src="${escaped(pictureOf(href))}" alt="${escaped(text)}">`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const target = targetOf(href, page, around);
        return target === undefined
          ? `<span class="file" title="${escaped(href)}">${text}</span>`
          : `<a href="${escaped(target)}">${text}</a>`;
      },
    },
  });
  return marked.parser(page.tokens).replaceAll('<table>', '<div class="table"><table>').replaceAll('</table>', '</table></div>');
}

/** Pictures are beside the pages. */
export function pictureOf(href: string): string {
  return href.slice(href.lastIndexOf('/') + 1);
}

/** Where a link leads on the site; undefined for files of the project that are no pages. */
function targetOf(href: string, page: Page, { pages, broken }: Around): string | undefined {
  if (/^[a-z]+:/.test(href)) return href;
  const { pathname, hash } = new URL(href, `file:///${page.path}`);
  const path = decodeURIComponent(pathname.slice(1));
  const anchor = decodeURIComponent(hash.slice(1));
  const folder = `${path.replace(/\/$/, '')}/`;
  const target = pages.get(path) ?? pages.get(`${folder}${FIRST}`) ?? [...pages.values()].find((each) => each.path.startsWith(folder));
  if (!target) {
    if (path.endsWith('.md')) broken.push(`${page.path}: ${href}`);
    return undefined;
  }
  if (anchor && !target.anchors.includes(anchor)) broken.push(`${page.path}: ${href}`);
  return `${target === page && anchor ? '' : target.file}${anchor ? `#${anchor}` : ''}`;
}

/** What is said below each heading, for who looks for a word. */
function sectionsOf({ file, title, tokens, anchors }: Page): Section[] {
  const sections: { place: string; title: string; words: string[] }[] = [];
  const next = anchors.values();
  for (const token of tokens) {
    if (token.type === 'heading') {
      const isFirst = sections.length === 0;
      const heading = plain((token as Tokens.Heading).tokens);
      sections.push({ place: isFirst ? file : `${file}#${next.next().value}`, title: isFirst ? title : `${title}: ${heading}`, words: [] });
      if (isFirst) next.next();
    } else sections.at(-1)?.words.push(plain([token]));
  }
  return sections.map(({ place, title: of, words }) => ({ place, title: of, text: words.join(' ').replace(/\s+/g, ' ').trim() }));
}

/** The words of tokens, without what they look like. */
function plain(tokens: readonly Token[]): string {
  return tokens.map(plainOne).join('');
}

function plainOne(token: Token): string {
  if (token.type === 'table') {
    const { header, rows } = token as Tokens.Table;
    return [header, ...rows].map((row) => row.map((cell) => plain(cell.tokens)).join(' ')).join(' ');
  }
  if (token.type === 'list') return (token as Tokens.List).items.map((item) => plain(item.tokens)).join(' ');
  if (token.type === 'html') return ' ';
  if ('tokens' in token && token.tokens) return plain(token.tokens);
  return 'text' in token && typeof token.text === 'string' ? token.text : ' ';
}

function wholePage(page: Page, pages: ReadonlyMap<string, Page>, body: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${page.path === FIRST ? '' : `${escaped(page.title)} - `}kubevirt-ts</title>
<link rel="stylesheet" href="style.css">
<script defer src="search-index.js"></script>
<script defer src="search.js"></script>
<header><a href="index.html">kubevirt-ts</a><input id="search" type="search" placeholder="Search" aria-label="Search the documentation" autocomplete="off"></header>
<nav aria-label="Pages">${listOf(page, pages)}</nav>
<main>
<ol id="found" aria-live="polite" hidden></ol>
<article>${body}</article>
</main>
</html>
`;
}

/** The part of the page that is shown is open. */
function listOf(shown: Page, pages: ReadonlyMap<string, Page>): string {
  const left = new Map(pages);
  return PARTS.map(([part, pattern]) => {
    const of = [...left.values()].filter(({ path }) => pattern.test(path));
    for (const { path } of of) left.delete(path);
    const items = of.map((page) => {
      const current = page === shown ? ' aria-current="page"' : '';
      return `<li><a href="${escaped(page.file)}"${current}>${escaped(page.title)}</a></li>`;
    });
    const [first] = of;
    if (part === LONG && first && !of.includes(shown)) return `<p><a href="${escaped(first.file)}">${part}</a></p>`;
    const isOpen = of.includes(shown) || part === 'Start' || part === 'Tasks';
    return of.length === 0 ? '' : `<details${isOpen ? ' open' : ''}><summary>${part}</summary><ul>${items.join('')}</ul></details>`;
  }).join('');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
