/** A real browser for tests of the web page, and the page of a cluster in it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { findProgram } from '../../src/base/node/find-program.ts';
import { loadKubeconfig } from '../../src/client/node/kubeconfig.ts';
import type { EmbeddedCluster } from './harness.ts';

const PROJECT = resolve(import.meta.dirname, '../..');
/** Pictures of every page, for people to look at. */
const PICTURES = join(PROJECT, '.tools/screenshots');
export const PATIENCE_MS = 120_000;

/** Why there is no browser here; undefined when there is one. */
export const whyNoBrowser = findProgram('chromium', process.env['PATH']) ? undefined : 'chromium is not installed';

export async function startBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: findProgram('chromium', process.env['PATH']) ?? '',
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
}

export type WebPage = AsyncDisposable & {
  /** An address that was not used yet. */
  readonly link: string;
  readonly origin: string;
};

/** `virtctl ui` of this cluster, until it is disposed of. */
export async function startWebPage(cluster: EmbeddedCluster, args: readonly string[] = []): Promise<WebPage> {
  const child = spawn(join(PROJECT, 'bin/virtctl'), ['ui', '--no-open', ...args], {
    env: cluster.environment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const line = once(createInterface(child.stdout), 'line') as Promise<[string]>;
  const [link] = await Promise.race([line, ended.then(() => Promise.reject(new Error('virtctl ui ended')))]);
  return {
    link,
    origin: new URL(link).origin,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** virt-ui as its Pod starts it, without a certificate, in front of this cluster; the link is of the page where people sign in. */
export async function startPageForMany(cluster: EmbeddedCluster): Promise<WebPage> {
  const env = cluster.environment();
  const { server, ca = '' } = loadKubeconfig(env['KUBECONFIG']);
  const authority = join(cluster.home, 'page-ca.crt');
  writeFileSync(authority, ca);
  const where = ['--host', '127.0.0.1', '--port', '0', '--health-port', '0', '--page', join(PROJECT, '.tools/ui')];
  const api = ['--api-server', server, '--api-server-ca', authority, '--certificate', join(cluster.home, 'no-certificate')];
  const child = spawn(process.execPath, [join(PROJECT, 'src/cmd/virt-ui.ts'), ...where, ...api], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env,
  });
  const ended = once(child, 'exit');
  const lines = createInterface(child.stdout);
  const serving = new Promise<number>((resolve, reject) => {
    lines.on('line', (line) => {
      const { port } = JSON.parse(line) as { port?: number };
      if (port !== undefined) resolve(port);
    });
    void ended.then(() => reject(new Error('virt-ui ended')));
  });
  const origin = `http://localhost:${await serving}`;
  return {
    link: `${origin}/`,
    origin,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

export async function openPage(browser: Browser, link: string, theme: 'light' | 'dark' = 'light'): Promise<Page> {
  const context = await browser.newContext({ colorScheme: theme, viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  await page.goto(link);
  return page;
}

export async function takePicture(page: Page, name: string): Promise<void> {
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${name}.png`) });
}

/** What keeps people with other senses or without a mouse out, in either theme, as axe finds it: rule and element. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  const isDark = await page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches);
  const faults = await faultsOf(page, { isColourOnly: false });
  await page.emulateMedia({ colorScheme: isDark ? 'light' : 'dark' });
  const others = await faultsOf(page, { isColourOnly: true }); // nothing else differs
  await page.emulateMedia({ colorScheme: isDark ? 'dark' : 'light' });
  return [...faults, ...others.map((fault) => `${isDark ? 'light' : 'dark'}: ${fault}`)];
}

async function faultsOf(page: Page, { isColourOnly }: { readonly isColourOnly: boolean }): Promise<string[]> {
  // once for each document: reading it again costs more than most of its checks
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source);
  return page.evaluate(async (isColourOnly) => {
    type Found = { id: string; impact: string; nodes: { html: string; failureSummary: string }[] };
    type Axe = { run(options: { resultTypes: string[]; runOnly?: string[] }): Promise<{ violations: Found[] }> };
    const { violations } = await (globalThis as unknown as { axe: Axe }).axe.run({
      resultTypes: ['violations'],
      ...(isColourOnly && { runOnly: ['color-contrast', 'link-in-text-block'] }),
    });
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`));
  }, isColourOnly);
}
