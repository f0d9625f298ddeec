/** Imported before a file of tests, by the process that runs it. */
import { relative } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { enterGroup } from './cpu-group.ts';

if (isMainThread && process.env['NODE_TEST_CONTEXT'] === 'child-v8' && process.argv[1]) enterGroup(relative('', process.argv[1]));
