import { createRequire } from 'node:module';
import { join } from 'node:path';
import { keep, road, step, until } from './lib.mjs';
import { start } from './mcp.mjs';

const { site, far, folder } = road;
const { resolve } = createRequire(import.meta.url);
let server;

const call = (name, args = {}) => server.call(`browser_${name}`, args);
const open = (url) => call('navigate', { url });

async function tabs() {
  const { text } = await call('tabs', { action: 'list' });
  return [...text.matchAll(/^- (\d+): (\(current\) )?\[(.*?)\]\((.*?)\)/gm)].map(
    ([, index, current, title]) => ({
      index: Number(index),
      current: Boolean(current),
      title,
    }),
  );
}

/** Evaluates a function's source in the page. */
async function evaluate(source) {
  const { text } = await call('evaluate', { function: source });
  return JSON.parse(text.match(/### Result\n(.*)\n/)[1]);
}

const text = (selector) => evaluate(`() => document.querySelector('${selector}').textContent`);
const said = () => text('#said');

/** The ref of an element, as a model would read it from a fresh snapshot. */
async function ref(line) {
  const { text: snapshot } = await call('snapshot');
  const found = snapshot.split('\n').find((l) => l.includes(line));
  if (!found) throw new Error(`no ${line} in ${snapshot}`);
  return found.match(/\[ref=(\S+?)\]/)[1];
}
/** Why an element is not in the page; empty when it is. */
const missing = (line) =>
  ref(line).then(
    () => '',
    (e) => e.message,
  );
const click = async (line) => call('click', { element: line, target: await ref(line) });

await step('connect', async () => {
  const main = join(resolve('@playwright/mcp'), '..', 'cli.js');
  server = await start(
    [main, '--cdp-endpoint', road.ws, '--output-dir', folder, '--caps', 'devtools'],
    { cwd: folder },
  );
  return (await tabs()).length;
});
await step('open', async () => {
  await open(`${site}/`);
  return evaluate('() => document.title');
});
await step('text', async () => {
  await ref('Welcome, reader.');
  return text('#welcome');
});
await step('click', async () => {
  await click('button "Count"');
  return text('#out');
});
await step('fill and press', async () => {
  await call('type', { element: 'City', target: await ref('textbox "City"'), text: 'Oslo' });
  await call('press_key', { key: 'Enter' });
  return until('Hello, OSLO.', () => text('h1'));
});
await step('back', async () => {
  await call('navigate_back');
  return evaluate('() => document.title');
});
await step('reload', async () => {
  // Its refs of a page that comes back from the back-forward cache lead nowhere, in any Chromium.
  await open(`${site}/`);
  await click('button "Count"');
  await open(`${site}/`);
  return text('#out');
});
await step('evaluate', () => evaluate('() => 6 * 7'));
await step('screenshot', async () => {
  const { picture } = await call('take_screenshot', { type: 'png', scale: 'css' });
  return keep('playwright-mcp.png', picture);
});
await step('dark', async () => {
  await call('emulate_media', { colorScheme: 'dark' });
  return evaluate("() => matchMedia('(prefers-color-scheme: dark)').matches");
});
await step('viewport', async () => {
  await call('resize', { width: 500, height: 400 });
  return evaluate("() => innerWidth + 'x' + innerHeight");
});
await step('console', async () => {
  await open(`${site}/console`);
  const { text: list } = await call('console_messages', { level: 'info' });
  return list.match(/the page speaks 42/)?.[0] ?? list;
});
await step('network', async () => {
  await open(`${site}/second`);
  const { text: list } = await call('network_requests', { static: true });
  const found = list.match(new RegExp(`\\[(\\w+)\\] ${site}/second => \\[(\\d+)\\]`));
  return found ? `${found[2]} ${found[1]}` : list;
});
await step('second site', async () => {
  await open(`${far}/second`);
  return text('#text');
});
await step('frame', async () => {
  await open(`${site}/frames`);
  await until('', () => missing('inner waits'));
  await click('button "Press inner"');
  await until('', () => missing('inner pressed'));
  await ref('inner pressed');
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
  await call('handle_dialog', { accept: true });
  return said();
});
async function inOpened(line, look) {
  await click(line);
  await until(2, async () => (await tabs()).length);
  await call('tabs', { action: 'select', index: 1 });
  await until(true, () => evaluate("() => document.querySelector('#text') !== null"));
  const seen = await look();
  await call('tabs', { action: 'close', index: 1 });
  return seen;
}
await step('link to a new tab', async () => {
  await open(`${site}/`);
  return inOpened('link "In a new tab"', () => evaluate('() => document.title'));
});
await step('window', () => inOpened('button "Open a window"', () => text('#text')));
await step('new tab', async () => {
  await call('tabs', { action: 'new' });
  await open(`${site}/second`);
  const before = (await tabs()).length;
  const seen = await text('#text');
  await call('tabs', { action: 'select', index: 0 });
  await call('tabs', { action: 'close', index: 1 });
  return `${before} tabs, ${seen}, ${(await tabs()).length} left`;
});
await step('leave', async () => {
  await open(`${site}/`);
  return (await server.end()) !== 0;
});
