/** What the server would say to a change, asked when somebody stops typing. */
import { useEffect, useState } from 'preact/hooks';
import { ApiError, isApiError, type StatusCause } from '../base/errors.ts';
import { useSession } from './hooks.ts';

/** A pause in typing, after which the server is asked. */
const PAUSE_MS = 400;
/** What is refused is asked about again: what stands against it may be elsewhere, and go away. */
const AGAIN_MS = 10_000;

export type Sent = {
  readonly method: 'POST' | 'PUT' | 'PATCH';
  readonly path: string;
  readonly contentType?: string;
  readonly body: string;
};
export type DryRun = {
  /** Undefined when the server would take it, or was not asked yet. */
  readonly refusal: string | undefined;
  readonly causes: readonly StatusCause[];
  readonly isForbidden: boolean;
  /** The server has said no; not that it did not answer. */
  readonly isRefused: boolean;
  /** What was last asked about is what is there now. */
  readonly isCurrent: boolean;
};

const NOTHING = { refusal: undefined, causes: [], isForbidden: false, isRefused: false } as const;

/** `asked` undefined: there is nothing to ask about. */
export function useDryRun(asked: Sent | undefined): DryRun {
  const { client } = useSession();
  const text = asked && JSON.stringify(asked);
  const [answer, setAnswer] = useState<Omit<DryRun, 'isCurrent'> & { readonly about: string | undefined }>({
    ...NOTHING,
    about: undefined,
  });
  useEffect(() => {
    if (text === undefined) return setAnswer({ ...NOTHING, about: undefined });
    const left = new AbortController();
    const ask = async () => {
      const { method, path, contentType = 'application/json', body } = JSON.parse(text) as Sent; // ours
      try {
        const response = await client.request(`${path}?dryRun=All`, {
          method,
          headers: { 'content-type': contentType },
          body,
          signal: left.signal,
        });
        await response.body?.cancel();
        return NOTHING;
      } catch (error) {
        return refusalFrom(error);
      }
    };
    let timer: ReturnType<typeof setTimeout>;
    const askIn = (delayMs: number) => {
      timer = setTimeout(async () => {
        const found = await ask();
        if (left.signal.aborted) return;
        setAnswer({ ...found, about: text });
        if (found.refusal !== undefined) askIn(AGAIN_MS);
      }, delayMs);
    };
    askIn(PAUSE_MS);
    return () => {
      left.abort();
      clearTimeout(timer);
    };
  }, [client, text]);
  return { ...answer, isCurrent: answer.about === text };
}

function refusalFrom(error: unknown): Omit<DryRun, 'isCurrent'> {
  return {
    refusal: error instanceof Error ? error.message : String(error),
    causes: error instanceof ApiError ? (error.details?.causes ?? []) : [],
    isForbidden: isApiError(error, 'Forbidden'),
    isRefused: error instanceof ApiError && error.code < 500 && error.code !== 429,
  };
}
