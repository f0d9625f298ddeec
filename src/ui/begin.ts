/**
 * The first script of the page, small and alone: asks for what every place of the page shows first, while the browser still reads the rest of it.
 * The answers are taken by `page-fetch.ts`, each once. What is asked for is put here when the page is built.
 */
import type { Begun } from './begun.ts';

/** Paths with a space between. */
declare const FIRST_QUESTIONS: string;

const begun: Begun = new Map(
  FIRST_QUESTIONS.split(' ').map((path) => {
    const answer = fetch(path, { headers: { accept: 'application/json' } });
    answer.catch(() => {}); // whoever takes it hears of it
    return [new URL(path, location.origin).href, answer];
  }),
);
(globalThis as { begun?: Begun }).begun = begun;
