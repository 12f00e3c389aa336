import puppeteer from 'puppeteer-core';
import { keep, road, step, until } from './lib.mjs';

const { site, far } = road;
let browser, page;

const text = (selector, from = page) => from.$eval(selector, (e) => e.textContent);
const said = () => text('#said');

await step('connect', async () => {
  browser = await puppeteer.connect({ browserWSEndpoint: road.ws, defaultViewport: null });
  const pages = await browser.pages();
  page = pages[0];
  return pages.length;
});
await step('open', async () => {
  await page.goto(`${site}/`);
  return page.title();
});
await step('text', () => text('#welcome'));
await step('click', async () => {
  await page.click('#count');
  return text('#out');
});
await step('fill and press', async () => {
  await page.type('#city', 'Oslo');
  await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
  return text('h1');
});
await step('back', async () => {
  await page.goBack();
  return page.title();
});
await step('reload', async () => {
  await page.click('#count');
  await page.reload();
  return text('#out');
});
await step('evaluate', () => page.evaluate((n) => ({ product: n * 7 }), 6).then((r) => r.product));
await step('screenshot', async () => keep('puppeteer.png', await page.screenshot()));
await step('dark', async () => {
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
  return page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches);
});
await step('viewport', async () => {
  await page.setViewport({ width: 500, height: 400 });
  return page.evaluate(() => `${innerWidth}x${innerHeight}`);
});
await step('script on every document', async () => {
  await page.evaluateOnNewDocument(() => {
    globalThis.left = 'behind';
  });
  await page.exposeFunction('twice', (n) => n * 2);
  await page.reload();
  return page.evaluate(async () => `${globalThis.left} ${await globalThis.twice(21)}`);
});
await step("a session of one's own", async () => {
  const own = await page.createCDPSession();
  const { result } = await own.send('Runtime.evaluate', { expression: '6 * 7' });
  await own.detach();
  return result.value;
});
await step('console', async () => {
  const heard = new Promise((done) => page.once('console', (m) => done(m.text())));
  await page.goto(`${site}/console`);
  return heard;
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
  return text('#text');
});
await step('frame', async () => {
  await page.goto(`${site}/frames`);
  const frame = await page.waitForFrame(`${far}/inner`);
  await frame.waitForSelector('#press');
  const before = await text('#said', frame);
  await frame.click('#press');
  return `${before}, ${await text('#said', frame)}`;
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
const popupOf = async (selector) => {
  const opened = new Promise((done) => page.once('popup', done));
  await page.click(selector);
  return opened;
};
await step('link to a new tab', async () => {
  await page.goto(`${site}/`);
  // A link to a new tab has no opener: Puppeteer tells it as a target only.
  const [target] = await Promise.all([
    browser.waitForTarget((t) => t.url() === `${site}/second`),
    page.click('#blank'),
  ]);
  const tab = await target.page();
  await tab.waitForSelector('#text');
  const title = await tab.title();
  await tab.close();
  return title;
});
await step('window', async () => {
  const popup = await popupOf('#open');
  await popup.waitForSelector('#text');
  const seen = await text('#text', popup);
  await popup.close();
  return seen;
});
await step('new tab', async () => {
  const tab = await browser.newPage();
  await tab.goto(`${site}/second`);
  const tabs = (await browser.pages()).length;
  await tab.bringToFront();
  const seen = await text('#text', tab);
  await tab.close();
  return `${tabs} tabs, ${seen}, ${(await browser.pages()).length} left`;
});
await step('context', async () => {
  const own = await browser.createBrowserContext();
  await own.close();
  return 'a context of its own';
});
await step('leave', async () => {
  await page.goto(`${site}/`);
  await browser.disconnect();
  return browser.connected;
});
