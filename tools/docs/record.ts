/**
 * `node tools/docs/record.ts`: types the first five minutes at a real terminal, in front of a cluster of its own, and writes what was seen to docs/pictures:
 * the session as a picture that moves, and the web page as it was then. By hand, when what is shown has changed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { cacheFolder } from '../../src/base/node/folders.ts';
import { openPage, startBrowser } from '../../test/e2e/browser.ts';
import { recordingSvg, type TimedLine } from './recording-svg.ts';
import { linesOnTerminal } from './terminal-text.ts';

const PROJECT = resolve(import.meta.dirname, '../..');
const PICTURES = join(PROJECT, 'docs/pictures');
const COLUMNS = 96;
const KEY_MS = 45;
/** What of a command's output is left out: steps that follow, with a secret in them. */
const LEFT_OUT = /\n\s*next:[\s\S]*$/;
const COMMANDS = [
  'virtctl up',
  'virtctl run tiny --name web --detach',
  'virtctl shell web -- uname -sr',
  'virtctl expose vm web --name web --port 80 --host-port 8080',
  'curl http://127.0.0.1:8080',
  'virtctl ls',
];

const home = mkdtempSync(join(tmpdir(), 'recording-'));
const env = {
  HOME: home,
  KUBEVIRT_CACHE: cacheFolder(),
  PATH: `${join(PROJECT, 'bin')}:${process.env['PATH']}`,
  TERM: 'xterm-256color',
  LANG: 'C.UTF-8',
};
try {
  mkdirSync(PICTURES, { recursive: true });
  const lines: TimedLine[] = [];
  for (const command of COMMANDS) {
    const before = lines.at(-1)?.atMs ?? 0;
    lines.push({
      line: [
        { text: '$ ', style: ['dim'] },
        { text: command, style: ['bold'] },
      ],
      atMs: before + command.length * KEY_MS,
    });
    lines.push(...(await typed(command)).map(({ line, atMs }) => ({ line, atMs: before + command.length * KEY_MS + atMs })));
  }
  writeFileSync(
    join(PICTURES, 'first-five-minutes.svg'),
    recordingSvg(lines, { title: 'From nothing to a machine that serves a page, at a terminal', columns: COLUMNS }),
  );
  await takePictures();
} finally {
  await typed('virtctl down --purge --yes');
  rmSync(home, { recursive: true, force: true });
}

/** Runs a command at a terminal of its own; each line with when it was complete. */
async function typed(command: string): Promise<TimedLine[]> {
  const started = performance.now();
  const atTerminal = `stty cols ${COLUMNS} rows 40; ${command}`;
  const child = spawn('script', ['--quiet', '--flush', '--return', '--command', atTerminal, '/dev/null'], { env, cwd: home });
  child.stdin.end();
  let written = '';
  const endedAt: number[] = [];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    written += chunk;
    while (endedAt.length < written.split('\n').length - 1) endedAt.push(performance.now() - started);
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${command} left with ${code}\n${written}`);
  const shown = written.replace(LEFT_OUT, '\n').replaceAll(home, '/home/me').trimEnd();
  return linesOnTerminal(shown).map((line, row) => ({ line, atMs: endedAt[row] ?? performance.now() - started }));
}

/** The web page with that machine: the list, and the machine itself. */
async function takePictures(): Promise<void> {
  const child = spawn(join(PROJECT, 'bin/virtctl'), ['ui', '--no-open'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  const browser = await startBrowser();
  try {
    const page = await openPage(browser, line.trim());
    const row = page.getByRole('link', { name: 'web', exact: true }).first();
    await row.waitFor();
    await page.getByRole('link', { name: '127.0.0.1:8080' }).waitFor();
    await page.getByRole('img', { name: /^Processors: \d/ }).waitFor(); // measured twice
    await picture(page, 'web-page-machines', 240);
    await row.click();
    await page.getByRole('heading', { name: 'web' }).first().waitFor();
    await page.getByRole('img', { name: /^Processors in the last hour: used/ }).waitFor();
    await page.getByRole('img', { name: 'Screen of web, opens it' }).waitFor();
    await picture(page, 'web-page-machine', 620);
  } finally {
    await browser.close();
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
}

async function picture(page: Page, name: string, height: number): Promise<void> {
  await page.setViewportSize({ width: 1280, height });
  await page.screenshot({ path: join(PICTURES, `${name}.png`) });
}
