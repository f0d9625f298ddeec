/** `script/node tools/release/verify.ts FOLDER --key release.pub`: whether the files of a release are those that were signed. */
import { parseArgs } from 'node:util';
import { UserError } from '../../src/base/errors.ts';
import { reportUserError } from './report-user-error.ts';
import { readKeyFile } from './signature.ts';
import { verifyRelease } from './verify-release.ts';

const { values, positionals } = parseArgs({ options: { key: { type: 'string' } }, allowPositionals: true });

await reportUserError(async () => {
  const [folder] = positionals;
  if (folder === undefined || values.key === undefined)
    throw new UserError('USAGE', 'a folder and a key are needed', {
      why: 'one is missing',
      fix: 'verify.ts FOLDER --key release.pub',
      exitCode: 2,
    });
  const files = await verifyRelease(folder, readKeyFile(values.key));
  console.log(`${files.length} files are as they were signed`);
});
