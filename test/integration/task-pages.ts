/** The commands of the task pages. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export type TaskCommand = {
  readonly page: string;
  readonly line: string;
  /** A test runs it; the others are only checked for their spelling. */
  readonly isRun: boolean;
};

const FOLDER = 'docs/tasks';
/** Made by hand in the test: the machine of the first page. */
const INDEX = 'README.md';

/** Beside the task pages: what leads from a file to a machine that is rolled back. */
export const LONGER_PAGE = '../disks.md';

/** All of them, in the order of the table on the first page. */
export function taskCommands(): TaskCommand[] {
  const index = readFileSync(join(FOLDER, INDEX), 'utf8');
  const pages = [...index.matchAll(/^\| \[[^\]]+\]\(([a-z-]+\.md)\)/gm)].map(([, page = '']) => page);
  return [...pages, LONGER_PAGE].flatMap(commandsOf);
}

/** Every page but the first. */
export function taskPages(): string[] {
  return readdirSync(FOLDER).filter((name) => name.endsWith('.md') && name !== INDEX);
}

function commandsOf(page: string): TaskCommand[] {
  const text = readFileSync(join(FOLDER, page), 'utf8');
  return [...text.matchAll(/^```(sh)?\n([\s\S]*?)^```$/gm)].flatMap(([, isRun, block = '']) =>
    block
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => ({ page, line, isRun: isRun !== undefined })),
  );
}
