// Playwright and Puppeteer on one tab that the person takes to a page of Chrome's own and back: neither sees the document
// come, and both go on with it.
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';
import puppeteer from 'puppeteer-core';
import { road, step, until } from './lib.mjs';

const { site } = road;
const told = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
let playwright, page, other, puppet, raw;

await step('both are there', async () => {
  playwright = await chromium.connectOverCDP(road.http);
  [page] = playwright.contexts()[0].pages();
  other = await puppeteer.connect({ browserWSEndpoint: road.ws, defaultViewport: null });
  [puppet] = await other.pages();
  raw = await puppet.createCDPSession();
  await page.goto(`${site}/second`);
  return `${await page.title()}, ${await puppet.$eval('h1', (e) => e.textContent)}`;
});
await step('away', async () => (await told.next()).value);
await step('asleep', () =>
  until('tab_suspended', () =>
    raw.send('Runtime.evaluate', { expression: '1' }).then(
      () => 'awake',
      (e) => /tab_suspended/.exec(e.message)?.[0] ?? e.message,
    ),
  ),
);
await step('back', async () => (await told.next()).value);
await step('playwright', async () => {
  await page.waitForLoadState();
  await page.locator('#count').click();
  return `${await page.title()}, ${await page.textContent('#out')}`;
});
await step('puppeteer', async () => {
  await puppet.locator('#count').click();
  return `${await puppet.title()}, ${await puppet.$eval('#out', (e) => e.textContent)}`;
});
await step('a frame', async () => {
  const [a, b] = [page.frame({ name: 'near' }), puppet.frames().find((f) => f.name() === 'near')];
  return `${await a.textContent('#said')}, ${await b.$eval('#said', (e) => e.textContent)}`;
});
await other.disconnect();
await playwright.close();
process.exit(0);
