/** Whether this machine can run guests, and what would make it better. */
import type { HostCheck, HostCheckStatus } from '../../../api/page/host-checks.ts';
import { UserError } from '../../../base/errors.ts';
import { escapeToOneLine } from '../../../base/escape-unprintable.ts';
import { type Colour, paintFor, writePainted } from '../../colour.ts';
import type { Deps } from '../../deps.ts';
import { decideChecks } from '../../doctor/decide.ts';
import { observeHost } from '../../doctor/observe.ts';
import { observeStore } from '../../doctor/observe-store.ts';
import { foldLine } from '../../fold-line.ts';

const MARKS: Readonly<Record<HostCheckStatus, readonly [mark: string, colour: Colour]>> = {
  ok: ['✓', 'green'],
  warning: ['!', 'yellow'],
  failed: ['✗', 'red'],
};

export async function run(deps: Deps, flags: { json: boolean; store: boolean }): Promise<void> {
  const checks = decideChecks({ ...(await observeHost(deps)), ...(flags.store && { store: await observeStore(deps) }) });
  const failed = checks.filter(({ status }) => status === 'failed');
  if (flags.json) deps.stdout.write(`${JSON.stringify({ ok: failed.length === 0, checks }, null, 2)}\n`);
  else writePainted(deps.stdout, rendered(checks, deps));
  if (failed.length === 0) return;
  throw new UserError('HOST_UNFIT', `machines cannot run here: ${failed.map(({ name }) => name).join(', ')}`, {
    fix: failed.map(({ fix }) => fix).find((fix) => fix !== undefined),
    exitCode: 7,
  });
}

function rendered(checks: readonly HostCheck[], { stdout, env }: Deps): string {
  const paint = paintFor(stdout, env);
  const width = Math.max(...checks.map(({ name }) => name.length));
  const folded = (line: string) => foldLine(line, { columns: stdout.columns, indent: width + 6 });
  return checks
    .map(({ name, status, text, fix }) => {
      const [mark, colour] = MARKS[status];
      const line = `${folded(escapeToOneLine(`  ${mark} ${name.padEnd(width)}  ${text}`)).replace(mark, () => paint(colour, mark))}\n`;
      return fix && status !== 'ok' ? `${line}${folded(escapeToOneLine(`    ${' '.repeat(width)}  fix: ${fix}`))}\n` : line;
    })
    .join('');
}
