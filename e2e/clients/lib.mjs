// What every client's script is made of: steps that each say one value on one line, and go on after a failure.
import { writeFileSync } from 'node:fs';

/** Where the client connects and what it visits, from the command line's one JSON argument. */
export const road = JSON.parse(process.argv[2] ?? '{}');

// A step that never ends is a fault of its own; Playwright's own patience is 30 s.
const stepMs = road.stepMs ?? 30_000;

function say(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** Runs a step and says what it gave; a failure is said too, and the script goes on. */
export async function step(name, run) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${stepMs} ms`)), stepMs);
  });
  const began = Date.now();
  try {
    const value = await Promise.race([run(), late]);
    say({ step: name, value: value ?? '', ms: Date.now() - began });
    return value;
  } catch (e) {
    say({ step: name, error: e.message, ms: Date.now() - began });
    if (name === 'connect') process.exit(1); // nothing more can be said
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

/** Looks until `look` gives what is wanted, and gives what it saw last; a page that is on its way may fail it. */
export async function until(wanted, look) {
  const deadline = Date.now() + stepMs / 2;
  for (;;) {
    const [seen, error] = await look().then(
      (value) => [value],
      (e) => [undefined, e],
    );
    const isLate = Date.now() > deadline;
    if (isLate && error) throw error;
    if (isLate || seen === wanted) return seen;
    await new Promise((done) => setTimeout(done, 50));
  }
}

/** Keeps a picture where the test looks at it. */
export function keep(name, bytes) {
  const file = `${road.folder}/${name}`;
  writeFileSync(file, bytes);
  return file;
}
