// Drives a headless Chromium over the DevTools protocol through the MCP Inspector's page and writes pictures of it.
// usage: node inspector-pages.mjs CHROMIUM PAGE-URL FOLDER
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [chromium, page, folder] = process.argv.slice(2);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const profile = mkdtempSync(join(tmpdir(), "inspector-pages-"));
const browser = spawn(
  chromium,
  ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-port=0", `--user-data-dir=${profile}`, "about:blank"],
  { stdio: "ignore" },
);

async function until(what, check, limit = 20_000) {
  for (const end = Date.now() + limit; Date.now() < end; await sleep(100)) {
    const found = await check();
    if (found) return found;
  }
  throw new Error(`no ${what} within ${limit} ms`);
}

async function connect() {
  const port = await until("browser", () => {
    try {
      return readFileSync(join(profile, "DevToolsActivePort"), "utf8").split("\n")[0];
    } catch {
      return null;
    }
  });
  const [target] = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()).filter((one) => one.type === "page");
  const socket = new WebSocket(target.webSocketDebuggerUrl);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = reject;
  });
  let next = 0;
  const waiting = new Map();
  socket.onmessage = ({ data }) => {
    const { id, result, error } = JSON.parse(data);
    const settle = waiting.get(id);
    waiting.delete(id);
    if (error) settle?.reject(new Error(error.message));
    else settle?.resolve(result);
  };
  return (method, params = {}) =>
    new Promise((resolve, reject) => {
      waiting.set(++next, { resolve, reject });
      socket.send(JSON.stringify({ id: next, method, params }));
    });
}

const send = await connect();
const js = async (expression) => {
  const { result, exceptionDetails } = await send("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result.value;
};
// The innermost visible element whose text is `text`, or contains it; clicked.
const find = (text, exact) => `(() => {
  const shown = [...document.querySelectorAll("button, a, label, [role], p, span, div")].filter((e) => e.offsetParent !== null);
  const fits = shown.filter((e) => { const t = e.textContent.trim(); return ${exact} ? t === ${JSON.stringify(text)} : t.includes(${JSON.stringify(text)}); });
  return fits.sort((a, b) => a.textContent.length - b.textContent.length || (a.contains(b) ? 1 : -1))[0];
})()`;
const click = async (text, exact = true) => {
  await until(`"${text}" to click`, () => js(`!!${find(text, exact)}`));
  await js(`${find(text, exact)}.click()`);
};
const shows = (text) => until(`"${text}" on the page`, () => js(`document.body.innerText.includes(${JSON.stringify(text)})`));
const picture = async (name) => {
  await sleep(700); // animations
  const { data } = await send("Page.captureScreenshot", { format: "png" });
  writeFileSync(join(folder, name), Buffer.from(data, "base64"));
  console.log(name);
};

try {
  await send("Page.enable");
  await send("Emulation.setDeviceMetricsOverride", { width: 1440, height: 800, deviceScaleFactor: 1, mobile: false });
  await send("Page.navigate", { url: page });
  const toggle = 'document.querySelector("input[role=switch][aria-label^=Connect]")';
  await until("switch of the server", () => js(`!!${toggle}`));
  await js(`${toggle}.click()`);
  await shows("SUBSCRIPTIONS/LISTEN");

  await click("Tools");
  await click("List commits", false);
  await shows("Execute Tool");
  await picture("inspector-tool.png");

  await click("Execute Tool");
  await shows("Note the first algorithm");
  await picture("inspector-call.png");

  await click("Resources");
  await click("connector-resources", false);
  await shows("data://git-history/authors");
  await picture("inspector-declaration.png");
} catch (error) {
  console.error(error.message, "\nThe page says:\n", await js("document.body.innerText"));
  process.exitCode = 1;
} finally {
  browser.kill();
  await sleep(300);
  rmSync(profile, { recursive: true, force: true });
}
