/** virt-importer: fills the PVC of a DataVolume, or serves those of an export. Its last line says why it could not. */
import { EXPORT_VARIABLE } from '../api/exporter/exporter.ts';
import { systemClock } from '../base/clock.ts';
import { messageOf, UserError } from '../base/errors.ts';
import { runExport } from '../virt-launcher/export/run-export.ts';
import { runImport } from '../virt-launcher/import/run-import.ts';

const stop = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort(new Error(`${signal}: it resumes later`)));

try {
  const run = process.env[EXPORT_VARIABLE] ? runExport : runImport;
  await run({ env: process.env, clock: systemClock, signal: stop.signal, report: (line) => console.log(line) });
} catch (error) {
  console.error(errorLine(error));
  process.exitCode = error instanceof UserError ? error.exitCode : 1;
}

function errorLine(error: unknown): string {
  if (!(error instanceof UserError)) return `error[INTERNAL]: ${messageOf(error)}`;
  const parts = [error.message, error.why && `why: ${error.why}`, error.fix && `fix: ${error.fix}`];
  return `error[${error.code}]: ${parts.filter(Boolean).join(' / ')}`.replaceAll('\n', ' ');
}
