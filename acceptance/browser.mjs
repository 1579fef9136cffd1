// Chromium, driven by Playwright for browser.py: one JSON object per line asks, one per line answers.

import { createRequire } from "node:module";
import { createInterface } from "node:readline";

// Playwright comes with what the page of `lineal serve` is built and checked with.
const { chromium } = createRequire(new URL("../page/package.json", import.meta.url))("playwright-core");

const { binary, width, height, dark } = JSON.parse(process.argv[2]);
const browser = await chromium.launch({
  executablePath: binary,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage", "--hide-scrollbars"],
});
const page = await browser.newPage({ viewport: { width, height }, colorScheme: dark ? "dark" : "light" });

// What the page complains about, since somebody last asked.
let complaints = [];
page.on("console", (message) => message.type() === "error" && complaints.push(`${message.text()} (${message.location().url})`));
page.on("pageerror", (error) => complaints.push(String(error)));
page.on("requestfailed", (request) => {
  const why = request.failure()?.errorText;
  // Who goes to another page breaks off what was under way.
  if (why !== "net::ERR_ABORTED") complaints.push(`${request.url()}: ${why}`);
});

const commands = {
  visit: ({ url }) => page.goto(url).then(() => null),
  resize: (size) => page.setViewportSize(size).then(() => null),
  // The body of a function, as WebDriver has it. An expression is not held back by the policy of the page, as `new Function` would be.
  js: ({ script, args }) => page.evaluate(`(function () { ${script}\n }).apply(null, ${JSON.stringify(args)})`).then((found) => found ?? null),
  choose: ({ selector, path }) => page.setInputFiles(selector, path).then(() => null),
  press: async ({ keys }) => {
    for (const key of keys) await page.keyboard.press(key);
    return null;
  },
  type: ({ text }) => page.keyboard.type(text).then(() => null),
  hover: ({ selector }) => page.hover(selector).then(() => null),
  tree: () => page.locator("body").ariaSnapshot(),
  errors: async () => {
    const found = complaints;
    complaints = [];
    return found;
  },
  screenshot: ({ path, whole }) => page.screenshot({ path, fullPage: whole, animations: "disabled" }).then(() => null),
};

const say = (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`);
say({ value: browser.version() });
for await (const line of createInterface({ input: process.stdin })) {
  const { what, ...more } = JSON.parse(line);
  try {
    say({ value: await commands[what](more) });
  } catch (error) {
    say({ error: String(error) });
  }
}
await browser.close();
