/** The files of the page, as they were built: few and small, so they are held in memory, and sent compressed. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { UserError } from '../base/errors.ts';

export type PageFile = {
  readonly type: string;
  readonly gzipped: Uint8Array<ArrayBuffer>;
  readonly etag: string;
  readonly isHashed: boolean;
};
export type PageFiles = ReadonlyMap<string, PageFile>;

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

/** By path; every file of the folder that has a type we know. */
export function readPageFiles(folder: string): PageFiles {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    throw new UserError('UI_MISSING', 'the web page is not built', {
      why: `${folder} is not there`,
      fix: 'script/bootstrap builds it; a release has it',
      cause: error,
    });
  }
  return new Map(
    names.flatMap((name) => {
      const type = TYPES[extname(name)];
      if (type === undefined) return [];
      const content = readFileSync(join(folder, name));
      const etag = `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;
      return [[`/${name}`, { type, gzipped: new Uint8Array(gzipSync(content)), etag, isHashed: /-[A-Z0-9]{8}\.\w+$/.test(name) }]];
    }),
  );
}

/** Every other path is a place in the page. */
export function pageFileAt(files: PageFiles, path: string): PageFile | undefined {
  return files.get(path) ?? (extname(path) === '' ? files.get('/index.html') : undefined);
}
