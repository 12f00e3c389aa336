import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Level } from '../policy/table.ts';
import { Executor } from './executor.ts';
import { type Call, type Event, ScriptedBrowser } from './scripted_browser.ts';
import type { Result } from './types.ts';
import { VirtualClock } from './virtual_clock.ts';

/** One of relay/testdata/programs; the README there says what the fields mean. */
type Vector = {
  name: string;
  level: Level;
  program: unknown;
  earlier?: Event[];
  browser: Call[];
  events?: (Event & { at_ms: number })[];
  cancel_at_ms?: number;
  result: Partial<Result>;
};

/** Tests run in the extension's folder. */
const FOLDER = '../relay/testdata/programs';

for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.json'))) {
  const vectors: Vector[] = JSON.parse(readFileSync(join(FOLDER, file), 'utf8'));
  for (const vector of vectors) test(vector.name, () => play(vector));
}

async function play(vector: Vector): Promise<void> {
  const clock = new VirtualClock();
  const browser = new ScriptedBrowser(clock, vector.browser);
  const executor = new Executor(browser, {
    pageScript: ScriptedBrowser.pageScript,
    clock,
  });
  browser.events = executor;
  await executor.attach();
  browser.begin();
  for (const { child, method, params } of vector.earlier ?? []) {
    executor.deliver(child ?? '', method, params);
  }
  for (const { at_ms, child, method, params } of vector.events ?? []) {
    clock.after(at_ms, () => executor.deliver(child ?? '', method, params));
  }
  const abort = new AbortController();
  if (vector.cancel_at_ms !== undefined) clock.after(vector.cancel_at_ms, () => abort.abort());
  const result = await clock.runUntil(executor.run(vector.program, vector.level, abort.signal));
  compare(result, vector.result);
  assert.deepEqual(browser.problems, []);
  assert.deepEqual(browser.left, [], 'calls that did not come');
}

function compare(got: Result, want: Partial<Result>): void {
  assert.deepEqual(
    { ...got.error, message: '' },
    { ...want.error, message: '' },
    JSON.stringify(got.error),
  );
  const message = got.error?.message ?? '';
  assert.ok(message.includes(want.error?.message ?? ''), message);
  assert.deepEqual(plain(got.steps), want.steps);
  assert.equal(got.stopped ?? false, want.stopped ?? false);
  assert.deepEqual(got.dialogs ?? [], want.dialogs ?? []);
  if (want.elapsed_ms !== undefined) assert.equal(got.elapsed_ms, want.elapsed_ms);
}

/** As it goes over the link. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
