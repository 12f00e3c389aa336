import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { road, step, until } from './lib.mjs';

const { site, far, folder } = road;
const { resolve } = createRequire(import.meta.url);
const binary = resolve('agent-browser/bin/agent-browser-linux-x64');
chmodSync(binary, 0o755); // its package leaves that to an install script
mkdirSync(`${folder}/home`, { recursive: true });

const env = {
  PATH: `${join(import.meta.dirname, 'bin')}${delimiter}${process.env.PATH}`,
  FFMPEG: resolve('@ffmpeg-installer/linux-x64/ffmpeg'),
  HOME: `${folder}/home`,
  AGENT_BROWSER_SOCKET_DIR: `${folder}/home`,
  AGENT_BROWSER_IDLE_TIMEOUT: '5m', // its daemon must not outlive a test that was killed
};

/** One command of the command line; gives its data, throws its error. */
const ab = (...args) =>
  new Promise((done, failed) => {
    execFile(binary, ['--json', ...args], { env, cwd: folder }, (error, out, err) => {
      const { success, data, error: why } = parse(out);
      if (success) return done(data);
      failed(new Error(`${args[0]}: ${why ?? (err || error?.message)}`));
    });
  });

function parse(out) {
  try {
    return JSON.parse(out.trim().split('\n').at(-1));
  } catch {
    return {};
  }
}

const text = async (selector) => (await ab('get', 'text', selector)).text;
const said = () => text('#said');
const evaluate = async (script) => (await ab('eval', script)).result;

const countFrames = (film) =>
  new Promise((done, failed) => {
    execFile(env.FFMPEG, ['-hide_banner', '-i', film, '-f', 'null', '-'], (error, _, err) => {
      if (error) return failed(error);
      done(Number([...err.matchAll(/frame= *(\d+)/g)].at(-1)?.[1] ?? 0));
    });
  });

/** The ref of an element, as a model would read it from a fresh snapshot. */
async function ref(role, name) {
  const { refs } = await ab('snapshot', '-i');
  const found = Object.entries(refs).find(([, e]) => e.role === role && e.name === name);
  if (!found) throw new Error(`no ${role} ${name} in ${JSON.stringify(refs)}`);
  return `@${found[0]}`;
}

const tabs = async () => (await ab('tab', 'list')).tabs;

await step('connect', async () => {
  await ab('connect', road.ws);
  return (await tabs()).length;
});
await step('open', async () => (await ab('open', `${site}/`)).title);
await step('text', () => text('#welcome'));
await step('click', async () => {
  await ab('click', await ref('button', 'Count'));
  return text('#out');
});
await step('fill and press', async () => {
  await ab('fill', await ref('textbox', 'City'), 'Oslo');
  await ab('press', 'Enter');
  return until('Hello, OSLO.', () => text('h1'));
});
await step('back', async () => {
  await ab('back');
  return (await ab('get', 'title')).title;
});
await step('reload', async () => {
  await ab('click', '#count');
  await ab('reload');
  return text('#out');
});
await step('evaluate', () => evaluate('({ product: 6 * 7 }).product'));
await step('screenshot', async () => (await ab('screenshot', `${folder}/agent-browser.png`)).path);
await step('dark', async () => {
  await ab('set', 'media', 'dark');
  return evaluate("matchMedia('(prefers-color-scheme: dark)').matches");
});
await step('viewport', async () => {
  await ab('set', 'viewport', '500', '400');
  return evaluate("innerWidth + 'x' + innerHeight");
});
await step('console', async () => {
  await ab('open', `${site}/console`);
  const { messages } = await ab('console');
  return messages.map((m) => m.text).find((m) => m.startsWith('the page speaks'));
});
await step('network', async () => {
  await ab('network', 'requests'); // turns the log on
  await ab('open', `${site}/second`);
  const { requests } = await ab('network', 'requests');
  const request = requests.find((r) => r.url === `${site}/second`);
  return `${request.status} ${request.method}`;
});
await step('second site', async () => {
  await ab('open', `${far}/second`);
  return text('#text');
});
await step('frame', async () => {
  await ab('open', `${site}/frames`);
  await until(true, async () => (await ab('snapshot')).snapshot.includes('inner waits'));
  await ab('click', await ref('button', 'Press inner'));
  const { snapshot } = await ab('snapshot');
  return snapshot.includes('inner pressed') ? 'inner waits, inner pressed' : snapshot;
});
await step('service worker', async () => {
  await ab('open', `${site}/service-worker`);
  return until('the service worker answered', said);
});
await step('worker', async () => {
  await ab('open', `${site}/worker`);
  return until('the worker says 42', said);
});
await step('dialog', async () => {
  await ab('open', `${site}/dialog`);
  await ab('click', '#ask');
  const { message } = await ab('dialog', 'status');
  if (message !== 'Really?') throw new Error(`the dialog says ${message}`);
  await ab('dialog', 'accept');
  return said();
});
async function opened(selector) {
  const before = (await tabs()).map((t) => t.tabId);
  await ab('click', selector);
  let tab;
  await until(true, async () => {
    tab = (await tabs()).find((t) => !before.includes(t.tabId));
    return tab !== undefined;
  });
  await ab('tab', tab.tabId);
  await ab('wait', '#text');
  return tab.tabId;
}
await step('link to a new tab', async () => {
  await ab('open', `${site}/`);
  const [{ tabId: first }] = await tabs();
  const tab = await opened('#blank');
  const { title } = await ab('get', 'title');
  await ab('tab', 'close', tab);
  await ab('tab', first);
  return title;
});
await step('window', async () => {
  const [{ tabId: first }] = await tabs();
  const tab = await opened('#open');
  const seen = await text('#text');
  await ab('tab', 'close', tab);
  await ab('tab', first);
  return seen;
});
await step('new tab', async () => {
  const [{ tabId: first }] = await tabs();
  await ab('tab', 'new', `${site}/second`);
  const before = (await tabs()).length;
  const seen = await text('#text');
  await ab('tab', first);
  const { title } = await ab('get', 'title');
  if (title !== 'Start') throw new Error(`the first tab shows ${title}`);
  await ab('tab', 'close', (await tabs()).find((t) => t.tabId !== first).tabId);
  return `${before} tabs, ${seen}, ${(await tabs()).length} left`;
});
await step('record', async () => {
  const file = `${folder}/agent-browser.webm`;
  await ab('open', `${site}/moving`);
  await ab('record', 'start', file);
  await ab('wait', '1500');
  await ab('record', 'stop');
  const frames = await countFrames(file);
  return frames >= 10 ? 'it moves' : `${frames} frames`;
});
await step('leave', async () => {
  await ab('open', `${site}/`);
  await ab('close');
  return false;
});
