// The rest of what people do with Playwright, and what no session's endpoint lets it do.
import { chromium } from 'playwright-core';
import { keep, road, step } from './lib.mjs';

const { site } = road;
let browser, context, page;

const refused = (run) =>
  run().then(
    () => 'it was let through',
    (e) => (e.message.includes('Chaperone: ') ? 'refused' : e.message),
  );

await step('connect', async () => {
  browser = await chromium.connectOverCDP(road.http);
  context = browser.contexts()[0];
  page = context.pages()[0];
  await page.goto(`${site}/form`);
  return page.title();
});
await step('select', () => page.selectOption('#sort', 'd').then((v) => v.join()));
await step('check', async () => {
  await page.check('#agree');
  return page.isChecked('#agree');
});
await step('hover', async () => {
  await page.hover('#hover');
  return page.textContent('#hover');
});
await step('double click', async () => {
  await page.dblclick('#twice');
  return page.textContent('#twice');
});
await step('drag', async () => {
  await page.dragAndDrop('#from', '#to');
  return page.textContent('#to');
});
await step('type', async () => {
  await page.locator('#note').pressSequentially('Grüße, 世界');
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.press('Backspace');
  await page.keyboard.insertText('done');
  return page.inputValue('#note');
});
await step('wheel', async () => {
  await page.mouse.wheel(0, 600);
  await page.waitForFunction(() => scrollY > 0);
  return page.evaluate(() => scrollY);
});
await step('the whole page', async () =>
  keep('playwright-full.png', await page.screenshot({ fullPage: true })),
);
await step('one element', async () =>
  keep('playwright-element.png', await page.locator('#hover').screenshot()),
);
await step('a page as PDF', async () => (await page.pdf()).subarray(0, 5).toString());
await step('own content', async () => {
  await page.setContent('<h1>Own</h1><p>words</p>');
  return (await page.content()).includes('<p>words</p>');
});
await step('headers', async () => {
  await page.setExtraHTTPHeaders({ 'x-workshop': 'yes' });
  await page.goto(`${site}/headers`);
  return page.textContent('#said');
});
await step('headers that sign in', () =>
  refused(() => page.setExtraHTTPHeaders({ authorization: 'Basic eDp5' })),
);
await step('cookies', () => refused(() => context.cookies()));
await step('a cookie set', () =>
  refused(() => context.addCookies([{ name: 'a', value: 'b', url: site }])),
);
await step('requests held', () => refused(() => page.route('**/*', (route) => route.continue())));
await step('files', () => {
  const file = { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('a') };
  return page
    .goto(`${site}/form`)
    .then(() => page.setInputFiles('#file', file))
    .then(() => page.$eval('#file', (e) => e.files.length));
});
await step('place', () => refused(() => context.setGeolocation({ latitude: 1, longitude: 2 })));
await step('permissions', () => refused(() => context.grantPermissions(['notifications'])));
await step('a file of the machine', () => refused(() => page.goto('file:///etc/hostname')));
await step("the browser's own pages", () => refused(() => page.goto('chrome://version')));
await step('and goes on', async () => {
  await page.goto(`${site}/`);
  return page.title();
});
await step('leave', async () => {
  await browser.close();
  return browser.isConnected();
});
