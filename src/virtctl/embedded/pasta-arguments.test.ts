import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pastaArguments } from './pasta-arguments.ts';

test('only a machine in no network needs addresses of our own', () => {
  const told = (isInNetwork: boolean) => pastaArguments({ pagePort: 6500, isInNetwork }).join(' ');
  assert.match(told(true), /--config-net -4 --no-map-gw .* -t 127\.0\.0\.1\/6500 -u none /);
  assert.match(told(false), /--config-net -4 -i lo -I out0 -a 10\.0\.2\.15 -n 24 -g 10\.0\.2\.2 -M \S+ --no-map-gw /);
});
