import { chromium } from 'playwright-core';
import { keep, road, step, until } from './lib.mjs';

const { site, far } = road;
let browser, context, page;

const said = () => page.textContent('#said');

await step('connect', async () => {
  browser = await chromium.connectOverCDP(road.http);
  context = browser.contexts()[0];
  page = context.pages()[0];
  return context.pages().length;
});
await step('open', async () => {
  await page.goto(`${site}/`);
  return page.title();
});
await step('text', () => page.textContent('#welcome'));
await step('click', async () => {
  await page.click('#count');
  return page.textContent('#out');
});
await step('fill and press', async () => {
  await page.getByLabel('City').fill('Oslo');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/greet*');
  return page.textContent('h1');
});
await step('back', async () => {
  await page.goBack();
  return page.title();
});
await step('reload', async () => {
  await page.click('#count');
  await page.reload();
  return page.textContent('#out');
});
await step('evaluate', () => page.evaluate((n) => ({ product: n * 7 }), 6).then((r) => r.product));
await step('screenshot', async () => keep('playwright.png', await page.screenshot()));
await step('dark', async () => {
  await page.emulateMedia({ colorScheme: 'dark' });
  return page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches);
});
await step('viewport', async () => {
  await page.setViewportSize({ width: 500, height: 400 });
  return page.evaluate(() => `${innerWidth}x${innerHeight}`);
});
await step('script on every document', async () => {
  await page.addInitScript(() => {
    globalThis.left = 'behind';
  });
  await page.exposeFunction('twice', (n) => n * 2);
  await page.reload();
  return page.evaluate(async () => `${globalThis.left} ${await globalThis.twice(21)}`);
});
await step("a session of one's own", async () => {
  const own = await context.newCDPSession(page);
  const { result } = await own.send('Runtime.evaluate', { expression: '6 * 7' });
  await own.detach();
  return result.value;
});
await step('console', async () => {
  const [message] = await Promise.all([
    page.waitForEvent('console', (m) => m.text().startsWith('the page speaks')),
    page.goto(`${site}/console`),
  ]);
  return message.text();
});
await step('network', async () => {
  const [response] = await Promise.all([
    page.waitForResponse(`${site}/second`),
    page.goto(`${site}/second`),
  ]);
  return `${response.status()} ${response.request().method()}`;
});
await step('second site', async () => {
  await page.goto(`${far}/second`);
  return page.textContent('#text');
});
await step('frame', async () => {
  await page.goto(`${site}/frames`);
  const frame = page.frameLocator('iframe');
  const before = await frame.locator('#said').textContent();
  await frame.locator('#press').click();
  return `${before}, ${await frame.locator('#said').textContent()}`;
});
await step('service worker', async () => {
  await page.goto(`${site}/service-worker`);
  return until('the service worker answered', said);
});
await step('worker', async () => {
  await page.goto(`${site}/worker`);
  return until('the worker says 42', said);
});
await step('script in a worker', async () => {
  await until(1, async () => page.workers().length);
  return page.workers()[0].evaluate(() => typeof document + 6 * 7);
});
await step('dialog', async () => {
  await page.goto(`${site}/dialog`);
  page.once('dialog', (d) => void d.accept());
  await page.click('#ask');
  return said();
});
await step('link to a new tab', async () => {
  await page.goto(`${site}/`);
  const [popup] = await Promise.all([page.waitForEvent('popup'), page.click('#blank')]);
  await popup.waitForLoadState();
  const title = await popup.title();
  await popup.close();
  return title;
});
await step('window', async () => {
  const [popup] = await Promise.all([page.waitForEvent('popup'), page.click('#open')]);
  const text = await popup.textContent('#text');
  await popup.close();
  return text;
});
await step('new tab', async () => {
  const tab = await context.newPage();
  await tab.goto(`${site}/second`);
  const tabs = context.pages().length;
  await tab.bringToFront();
  const text = await tab.textContent('#text');
  await tab.close();
  return `${tabs} tabs, ${text}, ${context.pages().length} left`;
});
await step('context', async () => {
  const own = await browser.newContext();
  await own.close();
  return 'a context of its own';
});
await step('leave', async () => {
  await page.goto(`${site}/`);
  await browser.close();
  return browser.isConnected();
});
