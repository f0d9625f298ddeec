import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDeps } from '../../deps.testing.ts';
import { run, type Shell } from './run.ts';

const REGISTERS: Readonly<Record<Shell, RegExp>> = {
  bash: /^complete .* virtctl$/m,
  zsh: /^compdef _virtctl virtctl$/m,
  fish: /^complete -c virtctl /m,
};

for (const [shell, registers] of Object.entries(REGISTERS)) {
  test(`the script for ${shell} registers itself and asks virtctl`, () => {
    const { deps, stdout } = testDeps();
    run(deps, {}, shell as Shell); // a key of the table
    assert.match(stdout(), registers);
    assert.match(stdout(), /__complete/);
  });
}
