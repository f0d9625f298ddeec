/**
 * Fails when the tree breaks its own rules: who may import whom, which files must be pure, what must run in a browser, how long a file may get,
 * which folder owns which npm package, and that no import goes in a circle. The rules are in `layers/tables.ts`.
 */
import { browserTypeErrors } from './layers/browser-types.ts';
import { checkTree } from './layers/check-tree.ts';

const { problems, files } = checkTree('src');
const errors = browserTypeErrors('src').map((error) => `must run in a browser: ${error}`);
const all = [...problems, ...errors];
console.log(all.join('\n') || `layers ok: ${files} files`);
process.exitCode = all.length ? 1 : 0;
