/** How far an import is, in words, for the line of a running step. */
import type { Clock } from '../../base/clock.ts';
import type { DownloadProgress } from '../../images/import/download-file.ts';
import type { ImportStage } from '../../images/import/import-disk.ts';
import { progressOf } from '../../sdk/upload/transfer-progress.ts';

/** The rate of the first moments says nothing. */
const SETTLED_MS = 1000;

/** What an import is told to call; `update` gets the words. */
export function importProgress(clock: Pick<Clock, 'steady'>, update: (text: string) => void) {
  let startedAtMs: number | undefined;
  return {
    onDownload({ doneBytes, totalBytes, resumedBytes }: DownloadProgress) {
      const nowMs = clock.steady();
      startedAtMs ??= nowMs;
      const elapsedMs = nowMs - startedAtMs;
      update(progressOf({ doneBytes, totalBytes, resumedBytes, ...(elapsedMs >= SETTLED_MS && { elapsedMs }) }));
    },
    onWaiting() {
      update('another process downloads it: waiting for that');
    },
    onStage(stage: ImportStage, doneBytes = 0, totalBytes?: number) {
      const far = totalBytes === undefined ? '' : ` · ${progressOf({ doneBytes, totalBytes })}`;
      update(`${WORDS[stage]}${far}`);
    },
  };
}

const WORDS: Readonly<Record<ImportStage, string>> = { unpack: 'unpacking', convert: 'converting', store: 'storing' };
