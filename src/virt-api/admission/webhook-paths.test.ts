import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { isReviewPath } from './answer-review.ts';

type Configuration = { readonly webhooks: readonly { readonly clientConfig: { readonly service: { readonly path: string } } }[] };

test('virt-api answers under every path that the API server asks', () => {
  const configurations = parseAllDocuments(readFileSync('deploy/webhooks.yaml', 'utf8')).map((each) => each.toJS() as Configuration);
  const paths = configurations.flatMap(({ webhooks }) => webhooks.map(({ clientConfig }) => clientConfig.service.path));
  assert.ok(paths.length > 7);
  assert.deepEqual(
    paths.filter((path) => !isReviewPath(path)),
    [],
  );
});
