/** Whether this machine can run guests, and what would make it better. */
import { UserError } from '../../../base/errors.ts';
import type { Deps } from '../../deps.ts';
import { type Check, type CheckStatus, decideChecks } from '../../doctor/decide.ts';
import { observeHost } from '../../doctor/observe.ts';
import { observeStore } from '../../doctor/observe-store.ts';

const MARKS: Readonly<Record<CheckStatus, string>> = { ok: '✓', warning: '!', failed: '✗' };

export async function run(deps: Deps, flags: { json: boolean; store: boolean }): Promise<void> {
  const checks = decideChecks({ ...(await observeHost(deps)), ...(flags.store && { store: await observeStore(deps) }) });
  const failed = checks.filter(({ status }) => status === 'failed');
  deps.stdout.write(flags.json ? `${JSON.stringify({ ok: failed.length === 0, checks }, null, 2)}\n` : rendered(checks));
  if (failed.length === 0) return;
  throw new UserError('HOST_UNFIT', `machines cannot run here: ${failed.map(({ name }) => name).join(', ')}`, {
    fix: failed.map(({ fix }) => fix).find((fix) => fix !== undefined),
    exitCode: 7,
  });
}

function rendered(checks: readonly Check[]): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  return checks
    .map(({ name, status, text, fix }) => {
      const line = `  ${MARKS[status]} ${name.padEnd(width)}  ${text}\n`;
      return fix && status !== 'ok' ? `${line}    ${' '.repeat(width)}  fix: ${fix}\n` : line;
    })
    .join('');
}
