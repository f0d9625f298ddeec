/** The disks that this page sends: they go on while one looks at other pages, and can be paused, gone on with and ended. */
import { DATA_VOLUMES } from '../api/kubevirt/kinds/data-volume.ts';
import { UserError } from '../base/errors.ts';
import type { Client } from '../client/client.ts';
import type { Upload, UploadWish } from './derive-upload.ts';

type At = Pick<Upload, 'namespace' | 'name'>;
type Kept = { upload: Upload; readonly file: File /** Not made yet. */; size: string | undefined; stop: AbortController };

export class Uploads {
  readonly #client: Client;
  readonly #changed: () => void;
  readonly #kept = new Map<string, Kept>();

  constructor(options: { readonly client: Client; readonly changed: () => void }) {
    this.#client = options.client;
    this.#changed = options.changed;
  }

  list(): readonly Upload[] {
    return [...this.#kept.values()].map(({ upload }) => upload);
  }

  of(at: At): Upload | undefined {
    return this.#kept.get(keyOf(at))?.upload;
  }

  /** `isThere`: the DataVolume waits for this file already. */
  begin({ namespace, name, size }: UploadWish, file: File, isThere: boolean): void {
    this.#kept.get(keyOf({ namespace, name }))?.stop.abort();
    const upload: Upload = {
      ...{ namespace, name, fileName: file.name, stage: 'beginning', startedAtMs: Date.now(), progress: undefined, why: undefined },
    };
    const kept: Kept = { upload, file, size: isThere ? undefined : size, stop: new AbortController() };
    this.#kept.set(keyOf(upload), kept);
    void this.#send(kept);
  }

  pause(at: At): void {
    const kept = this.#kept.get(keyOf(at));
    if (!kept) return;
    kept.stop.abort();
    this.#say(kept, { stage: 'paused' });
  }

  goOn(at: At): void {
    const kept = this.#kept.get(keyOf(at));
    if (!kept) return;
    kept.stop.abort();
    kept.stop = new AbortController();
    this.#say(kept, { stage: 'beginning', startedAtMs: Date.now(), why: undefined });
    void this.#send(kept);
  }

  /** Ends it, and removes what was made for it. */
  async cancel({ namespace, name }: At): Promise<void> {
    const kept = this.#kept.get(keyOf({ namespace, name }));
    kept?.stop.abort();
    await this.#client.delete(DATA_VOLUMES, { namespace, name });
    this.#kept.delete(keyOf({ namespace, name }));
    this.#told();
  }

  async #send(kept: Kept): Promise<void> {
    const { upload, file, size, stop } = kept;
    const { namespace, name } = upload;
    const { signal } = stop;
    this.#told();
    try {
      const { sendDroppedFile } = await import('./send-dropped-file.ts');
      await sendDroppedFile({
        ...{ client: this.#client, namespace, name, size, file, signal },
        onMade: () => {
          kept.size = undefined;
        },
        onProgress: (progress) => !signal.aborted && this.#say(kept, { stage: 'sending', progress }),
      });
      if (!signal.aborted) this.#say(kept, { stage: 'done' });
    } catch (error) {
      if (!signal.aborted) this.#say(kept, { stage: 'failed', why: wordsOf(error) });
    }
  }

  #say(kept: Kept, changed: Partial<Upload>): void {
    kept.upload = { ...kept.upload, ...changed };
    this.#told();
  }

  /** A page that is closed while something is on its way asks first. */
  #told(): void {
    const isBusy = this.list().some(({ stage }) => stage === 'beginning' || stage === 'sending');
    globalThis.onbeforeunload = isBusy ? (event) => event.preventDefault() : null;
    this.#changed();
  }
}

function keyOf({ namespace, name }: At): string {
  return `${namespace}/${name}`;
}

function wordsOf(error: unknown): string {
  if (error instanceof UserError) return [error.message, error.why, error.fix].filter(Boolean).join(': ');
  return error instanceof Error ? error.message : String(error);
}
