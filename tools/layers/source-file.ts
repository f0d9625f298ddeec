/** One file of the tree as the checks see it. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { codeOf } from './code-of.ts';

export type Import = {
  /** A path below the root, or the name of a module. */
  readonly target: string;
  readonly isOwn: boolean;
  /** Gone before the file runs. */
  readonly isTypeOnly: boolean;
  /** What is named between the braces. */
  readonly names: readonly string[];
};

export type SourceFile = {
  /** Below the root. */
  readonly path: string;
  readonly isTest: boolean;
  readonly lines: number;
  /** Without comments, texts and patterns. */
  readonly code: string;
  readonly imports: readonly Import[];
};

const IMPORT = /^(?:import|export)\b([^'";]*?)\bfrom\s+'([^']+)'|^import\s+'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/gm;

/** Reads a file. */
export function readSourceFile(root: string, path: string): SourceFile {
  const text = readFileSync(join(root, path), 'utf8');
  return {
    path,
    isTest: /\.(test|contract|testing)\.tsx?$/.test(path),
    lines: text.split('\n').length - 1,
    code: codeOf(text),
    imports: [...codeOf(text, { keepTexts: true }).matchAll(IMPORT)].map((found) => importOf(path, found)),
  };
}

function importOf(path: string, [, clause = '', from, bare, dynamic]: RegExpExecArray): Import {
  const written = from ?? bare ?? dynamic ?? '';
  const isOwn = written.startsWith('.');
  return {
    target: isOwn ? join(dirname(path), written) : written,
    isOwn,
    isTypeOnly: /^\s+type\s+[\w{*]/.test(clause) && !/^\s+type\s*,/.test(clause),
    names: (/\{([^}]*)\}/.exec(clause)?.[1] ?? '').split(',').flatMap((name) => name.trim().split(/\s+as\s+/)[0] || []),
  };
}
