import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { at, isObject } from '../policy/json.ts';
import type { Level } from '../policy/table.ts';
import { Chromium, type Site, serve } from './chromium.ts';
import { Executor } from './executor.ts';
import type { Result } from './types.ts';

/** One of relay/testdata/chromium; the README there says what the fields mean. */
type Scenario = { name: string; level: Level; turns: { program: unknown; result: unknown }[] };

/** Tests run in the extension's folder. */
const read = (name: string) => readFileSync(`../relay/testdata/chromium/${name}`, 'utf8');

const pageScript = read('page.js');
const scenarios: Scenario[] = JSON.parse(read('scenarios.json'));
let site: Site;
let chromium: Chromium;

before(async () => {
  site = await serve(read('site.json'));
  chromium = new Chromium();
});

after(async () => {
  await chromium.close();
  site.close();
});

for (const { name, level, turns } of scenarios) {
  test(name, { timeout: 60_000 }, async () => {
    const page = await chromium.open();
    const executor = new Executor(page, { pageScript });
    page.events = executor;
    await executor.attach();
    let previous: Result | undefined;
    for (const { program, result } of turns) {
      const sent: unknown = JSON.parse(withFrames(site.place(JSON.stringify(program)), previous));
      previous = await executor.run(sent, level, new AbortController().signal);
      const want: unknown = JSON.parse(site.place(JSON.stringify(result)));
      const got: unknown = JSON.parse(JSON.stringify(previous));
      assert.deepEqual(listed(want, got), want, JSON.stringify({ sent, got }));
    }
    await page.close();
  });
}

/** Fills {FRAME n} from the previous program's first step. */
function withFrames(text: string, previous: Result | undefined): string {
  const frames = previous?.steps[0];
  return text.replace(/\{FRAME (\d)\}/g, (_, n: string) => {
    const frame = Array.isArray(frames) ? at(frames[Number(n)], 'frame') : undefined;
    return typeof frame === 'string' ? frame : '';
  });
}

/** Of `got`, what `want` lists; "*" stands for any value. */
function listed(want: unknown, got: unknown): unknown {
  if (want === '*' && got !== undefined) return '*';
  if (Array.isArray(want) && Array.isArray(got)) {
    return got.map((item: unknown, i) => listed(want[i], item));
  }
  if (!isObject(want) || !isObject(got)) return got;
  return Object.fromEntries(
    Object.entries(want).map(([name, value]) => [name, listed(value, at(got, name))]),
  );
}
