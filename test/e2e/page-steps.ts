/** What people do on the web page, the same on an embedded cluster and on a real one. */

import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { accessibilityFaults, takePicture } from './browser.ts';

/** Signs in at the page for many: a wrong token is refused first. */
export async function signIn(page: Page, token: string): Promise<void> {
  assert.deepEqual(await accessibilityFaults(page), [], 'sign-in');
  await takePicture(page, 'sign-in');
  for (const [typed, isRefused] of [
    ['nonsense', true],
    [token, false],
  ] as const) {
    await page.getByLabel('Token of your account').fill(typed);
    await page.getByRole('button', { name: 'Sign in' }).click();
    if (isRefused) await page.getByRole('alert').filter({ hasText: 'does not know this token' }).waitFor();
  }
}

/** What somebody else wrote has neither become a part of the page nor turned its lines around. */
export async function assertTextOnly(page: Page, where: string): Promise<void> {
  assert.equal(await page.locator('[onerror], img[src="x"]').count(), 0, where);
  const shown = await page.locator('body').innerText();
  for (const character of ['\u202e', '\u001b']) assert.ok(!shown.includes(character), where);
}

/** Opens the palette, and waits until what is typed is for it: a key that comes earlier is one of the page. */
export async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.waitForFunction(() => document.activeElement?.closest('dialog, [role=dialog]') != null);
}

/** In the console of a machine, which is open: logs in, types a command and reads its answer. */
export async function typeIntoConsole(page: Page): Promise<void> {
  const shows = (text: string) => page.locator('.xterm-rows', { hasText: text }).waitFor();
  const type = (text: string) => page.locator('.xterm-helper-textarea').pressSequentially(text);
  await page.getByText('Connected.').waitFor();
  await shows('login:');
  await type('root\n');
  await shows('Password:');
  await type('guest\n');
  await shows('#');
  await type('echo $((6*7))-is-it\n');
  await shows('42-is-it');
}
