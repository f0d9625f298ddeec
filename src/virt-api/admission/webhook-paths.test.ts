import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import type { KindRecord } from '../../api/kind.ts';
import { KINDS } from '../../api/kubevirt/kinds-table.ts';
import { isReviewPath } from './answer-review.ts';
import { RULES } from './rules-table.ts';

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

test('a kind is completed exactly when its record asks for it', () => {
  const asking = KINDS.filter(({ admission }: KindRecord) => admission?.mutate).map(({ kind }) => kind);
  assert.deepEqual(
    KINDS.map(({ kind }) => kind).filter((kind) => RULES[kind].mutate),
    asking,
  );
});
