import { createRequire } from 'node:module';
import { keep, road, step, until } from './lib.mjs';
import { start } from './mcp.mjs';

const { site, far } = road;
const { resolve } = createRequire(import.meta.url);
let server;
let pageId;

const call = async (name, args = {}) => server.call(name, args);
const here = async (name, args = {}) => call(name, { pageId, ...args });
const open = (url) => here('navigate_page', { type: 'url', url });

async function pages() {
  const { text } = await call('list_pages');
  return [...text.matchAll(/^(\d+): /gm)].map(([, id]) => ({ id: Number(id) }));
}

/** Evaluates a function's source in the page. */
async function evaluate(source) {
  const { text } = await here('evaluate_script', { function: source });
  return JSON.parse(text.match(/```json\n([\s\S]*?)\n```/)[1]);
}

const text = (selector) => evaluate(`() => document.querySelector('${selector}').textContent`);
const said = () => text('#said');

/** The uid of an element, as a model would read it from a fresh snapshot. */
async function uid(line) {
  const { text: snapshot } = await here('take_snapshot');
  const found = snapshot.split('\n').find((l) => l.includes(line));
  if (!found) throw new Error(`no ${line} in ${snapshot}`);
  return found.match(/uid=(\S+)/)[1];
}
/** Why an element is not in the page; empty when it is. */
const missing = (line) =>
  uid(line).then(
    () => '',
    (e) => e.message,
  );
const click = async (line) => here('click', { uid: await uid(line) });

await step('connect', async () => {
  const main = resolve('chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js');
  server = await start([
    main,
    '--wsEndpoint',
    road.ws,
    '--usageStatistics=false',
    '--performanceCrux=false',
  ]);
  const all = await pages();
  pageId = all[0].id;
  return all.length;
});
await step('open', async () => {
  await open(`${site}/`);
  return evaluate('() => document.title');
});
await step('text', async () => {
  await uid('"Welcome, reader."');
  return text('#welcome');
});
await step('click', async () => {
  await click('button "Count"');
  return text('#out');
});
await step('fill and press', async () => {
  await here('fill', { uid: await uid('textbox "City"'), value: 'Oslo' });
  await here('press_key', { key: 'Enter' });
  return until('Hello, OSLO.', () => text('h1'));
});
await step('back', async () => {
  await here('navigate_page', { type: 'back' });
  return evaluate('() => document.title');
});
await step('reload', async () => {
  await click('button "Count"');
  await here('navigate_page', { type: 'reload' });
  return text('#out');
});
await step('evaluate', () => evaluate('() => 6 * 7'));
await step('screenshot', async () =>
  keep('chrome-devtools-mcp.png', (await here('take_screenshot')).picture),
);
await step('dark', async () => {
  await here('emulate', { colorScheme: 'dark' });
  return evaluate("() => matchMedia('(prefers-color-scheme: dark)').matches");
});
await step('viewport', async () => {
  await here('emulate', { viewport: '500x400x1' });
  return evaluate("() => innerWidth + 'x' + innerHeight");
});
await step('script on every document', async () => {
  await here('navigate_page', { type: 'reload', initScript: "globalThis.left = 'behind 42'" });
  return evaluate('() => globalThis.left');
});
await step('console', async () => {
  await open(`${site}/console`);
  return until('the page speaks 42', async () => {
    const { text: list } = await here('list_console_messages');
    return list.match(/the page speaks 42/)?.[0] ?? list;
  });
});
await step('network', async () => {
  await open(`${site}/second`);
  const { text: list } = await here('list_network_requests');
  const [, method, status] = list.match(new RegExp(`(\\w+) ${site}/second \\[(\\d+)\\]`));
  return `${status} ${method}`;
});
await step('second site', async () => {
  await open(`${far}/second`);
  return text('#text');
});
await step('frame', async () => {
  await open(`${site}/frames`);
  await until('', () => missing('"inner waits"'));
  await uid('"inner waits"');
  await click('button "Press inner"');
  await until('', () => missing('"inner pressed"'));
  await uid('"inner pressed"');
  return 'inner waits, inner pressed';
});
await step('service worker', async () => {
  await open(`${site}/service-worker`);
  return until('the service worker answered', said);
});
await step('worker', async () => {
  await open(`${site}/worker`);
  return until('the worker says 42', said);
});
await step('dialog', async () => {
  await open(`${site}/dialog`);
  const { text: answer } = await click('button "Ask"');
  if (!answer.includes('Really?')) throw new Error(`the click answered ${answer}`);
  await here('handle_dialog', { action: 'accept' });
  return said();
});
async function inOpened(line, look) {
  const first = pageId;
  const before = (await pages()).map((p) => p.id);
  await click(line);
  let tab;
  await until(true, async () => {
    tab = (await pages()).find((p) => !before.includes(p.id));
    return tab !== undefined;
  });
  pageId = tab.id;
  await here('select_page');
  await until(true, () => evaluate("() => document.querySelector('#text') !== null"));
  const seen = await look();
  await here('close_page');
  pageId = first;
  await here('select_page');
  return seen;
}
await step('link to a new tab', async () => {
  await open(`${site}/`);
  return inOpened('link "In a new tab"', () => evaluate('() => document.title'));
});
await step('window', () => inOpened('button "Open a window"', () => text('#text')));
await step('new tab', async () => {
  const first = pageId;
  await call('new_page', { url: `${site}/second` });
  const all = await pages();
  pageId = all.find((p) => p.id !== first).id;
  await here('select_page', { bringToFront: true });
  const seen = await text('#text');
  await here('close_page');
  pageId = first;
  await here('select_page');
  return `${all.length} tabs, ${seen}, ${(await pages()).length} left`;
});
await step('context', async () => {
  const { text: answer } = await call('new_page', { url: 'about:blank', isolatedContext: 'own' });
  const own = answer.match(/^(\d+): .*isolatedContext=own/m)[1];
  await call('close_page', { pageId: Number(own) });
  return 'a context of its own';
});
await step('leave', async () => {
  await open(`${site}/`);
  return (await server.end()) !== 0;
});
