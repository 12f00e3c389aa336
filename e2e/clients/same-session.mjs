// Playwright and Puppeteer in one session: the late one gets what is there, and neither is in the other's way.
import { chromium } from 'playwright-core';
import puppeteer from 'puppeteer-core';
import { road, step, until } from './lib.mjs';

const { site, far } = road;
let early, earlyPage, late, page;

const isDark = () => matchMedia('(prefers-color-scheme: dark)').matches;
const connect = () => puppeteer.connect({ browserWSEndpoint: road.ws, defaultViewport: null });
const text = (selector, from = page) => from.$eval(selector, (e) => e.textContent);

await step('early', async () => {
  early = await chromium.connectOverCDP(road.http);
  [earlyPage] = early.contexts()[0].pages();
  await earlyPage.goto(`${site}/everything`);
  await earlyPage.emulateMedia({ colorScheme: 'dark' });
  await earlyPage.addInitScript(() => {
    globalThis.left = 'early';
  });
  return earlyPage.evaluate(isDark);
});
await step('late', async () => {
  late = await connect();
  [page] = await late.pages();
  return `${await page.title()} ${await page.evaluate(() => 6 * 7)}`;
});
await step("the late one's frame", async () => {
  const frame = await page.waitForFrame(`${far}/inner`);
  return text('#said', frame);
});
await step("the late one's worker", async () => {
  await until(1, async () => page.workers().length);
  return page.workers()[0].evaluate(() => typeof document + 6 * 7);
});
await step('both click', async () => {
  await page.click('#count');
  await earlyPage.click('#count');
  return `${await text('#out')}, ${await earlyPage.textContent('#out')}`;
});
await step('both hear', async () => {
  const heard = [
    earlyPage.waitForEvent('console').then((m) => m.text()),
    new Promise((done) => page.once('console', (m) => done(m.text()))),
  ];
  await page.evaluate("console.log('once')");
  return (await Promise.all(heard)).join(' and ');
});
await step('elements of both', async () => {
  const handles = [await earlyPage.$('#count'), await page.$('#out')];
  await Promise.all([page.accessibility.snapshot(), earlyPage.locator('body').ariaSnapshot()]);
  const names = await Promise.all(handles.map((h) => h.evaluate((e) => e.id)));
  return names.join(' and ');
});
await step('own overrides', async () => {
  await page.setViewport({ width: 500, height: 400 });
  await page.evaluateOnNewDocument(() => {
    globalThis.stays = 'late';
  });
  await page.reload();
  return page.evaluate(() => `${innerWidth} ${globalThis.left} ${globalThis.stays}`);
});
await step('the early one leaves', async () => {
  await early.close();
  return until(false, () => page.evaluate(isDark));
});
await step('what stays', async () => {
  await page.reload();
  const frame = await page.waitForFrame(`${far}/inner`);
  await (await frame.waitForSelector('#press')).click();
  return page.evaluate(() => `${innerWidth} ${globalThis.left} ${globalThis.stays}`);
});
await step('a close is for oneself', async () => {
  const third = await connect();
  const title = await (await third.pages())[0].title();
  await third.close();
  return `${title}, ${third.connected}, ${late.connected} ${await page.evaluate(() => 6 * 7)}`;
});
await step('leave', async () => {
  await page.goto(`${site}/`);
  await late.disconnect();
  return late.connected;
});
