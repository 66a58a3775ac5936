// While a value is typed the number comes first: what stands beside it may come after the number is painted, and says the same then.
// Where the number itself takes long, the key's own sign is painted first.
import { equal, that } from "./harness.mjs";
import { calculator, isBuilt } from "./calculator.mjs";

// A clock on which everything takes long: so many milliseconds from one look at it to the next, and for a number, whatever the machine.
const slowClock = (ms) => {
  const now = performance.now.bind(performance);
  let calls = 0;
  performance.now = () => now() + ms * calls++;
  Object.defineProperty(window.vramPage, "took", { get: () => ms, set: () => {} });
};
const shown = () => ["number", "range", "verdict", "badge", "chips", "parts", "fields", "command", "totals", "moment", "tensors"]
  .map((name) => `${name}: ${document.querySelector(`[data-out=${name}]`).textContent}`).concat(document.querySelector("[data-out=step]").getAttribute("aria-valuetext")).join("\n");
const type = (values) => {
  const input = document.querySelector("[name=batch_size]"), said = (name) => document.querySelector(`[data-out=${name}]`).textContent;
  return values.map((value) => {
    input.value = value;
    input.dispatchEvent(new Event("input", { bubbles: true }));
    return [said("number"), said("parts"), window.vramPage.settled()];
  });
};

export async function run(browser, site) {
  if (!await isBuilt(browser, site)) return;
  for (const preset of ["gpt2", "llama-3.1-405b"])
    calculator(browser, `typing on a slow machine: ${preset}`, { base: site.http, state: `#preset=${preset}&gpu=RTX+4070` }, async (tab) => {
      await tab.locator("[data-out=step] svg").waitFor();
      await tab.evaluate(slowClock, 9);
      await tab.evaluate(type, ["1", "2"]);   // now it is known to be slow
      await tab.waitForFunction(() => window.vramPage.settled());
      const before = await tab.locator("[data-out=parts]").textContent(), [four, five] = await tab.evaluate(type, ["4", "5"]);
      that(four[0] !== five[0], `each number is there at once: ${four[0]}, ${five[0]}`);
      that(!four[2] && !five[2] && four[1] === before && five[1] === before, "the table waits");
      await tab.waitForFunction(() => window.vramPage.settled());
      that(await tab.locator("[data-out=parts]").textContent() !== before, "and comes");
      // What another change has overtaken is not drawn later, and does not keep the newest from being drawn.
      await tab.evaluate(() => {
        const input = document.querySelector("[name=batch_size]"), write = (value) => { input.value = value; input.dispatchEvent(new Event("input", { bubbles: true })); };
        window.drawn = [];
        window.vramPage.after.push((r) => window.drawn.push(r.config.batch_size));
        write("6");
        window.vramPage.change({ batch_size: "7" }, "push");
        write("8");
      });
      await tab.waitForFunction(() => window.vramPage.settled());
      equal((await tab.evaluate(() => window.drawn)).join(" "), "7 8", "what is drawn to its end");
      await tab.evaluate(() => window.vramPage.after.pop());
      const link = await tab.evaluate(() => new Promise((done) => setTimeout(() => done(location.href), 400)));
      await tab.waitForFunction(() => !document.querySelector(".step.late"));
      const text = await tab.evaluate(shown);
      await tab.goto("about:blank");
      await tab.goto(link);
      await tab.locator("#calc.whole").waitFor();
      await tab.waitForFunction(() => document.querySelector("[data-out=step] .cat") && !document.querySelector(".step.late"));
      equal(text, await tab.evaluate(shown), "what is shown in the end");
    });
  calculator(browser, "a key is painted before a number that takes long", { base: site.http, state: "#preset=llama-3.1-405b&gpu=RTX+4070" }, async (tab) => {
    await tab.evaluate(slowClock, 40);
    await tab.evaluate(() => {   // counts the runs of the library in the page
      const core = window.vramPage.core, estimate = core.estimate.bind(core);
      window.runs = 0;
      core.estimate = (flat) => { window.runs++; return estimate(flat); };
    });
    await tab.evaluate(type, ["2"]);   // now it is known to take long
    await tab.waitForFunction(() => window.vramPage.settled());
    const before = await tab.evaluate(() => [window.runs, document.querySelector("[data-out=number]").textContent]);
    const [during, keys] = await tab.evaluate(`(${type})(["3", "34", "3"]) && [window.runs, (${type})(["4"])]`);
    equal(during, before[0], "runs before the key is painted");
    that(keys[0][0] === before[1] && !keys[0][2], "the number of before stands until then");
    await tab.waitForFunction(() => window.vramPage.settled());
    equal(await tab.evaluate(() => window.runs), before[0] + 1, "one run for all that was typed");
    that(await tab.locator("[data-out=number]").textContent() !== before[1], "and its number comes");
    equal(await tab.evaluate(() => window.vramPage.report.config.batch_size), 4, "of what was typed last");
    const asked = await tab.evaluate(`(${type})(["5"]) && window.vramPage.report.config.batch_size`);
    equal(asked, 5, "who asks for the report gets that of what is typed");
    const pushed = await tab.evaluate(`(${type})(["6"]) && (window.vramPage.change({ batch_size: "7" }, "push"), document.querySelector("[name=batch_size]").value)`);
    equal(pushed, "7", "what is chosen is there at once");
  });
  calculator(browser, "typing changes texts, not elements", { base: site.http, state: "#preset=gpt2&batch_size=2&gpu=RTX+4070" }, async (tab) => {
    const all = 'document.querySelectorAll("[data-out=bar] *, [data-out=parts] *, [data-out=chips] *, [data-out=badge] *")';
    await tab.evaluate(`window.elements = [...${all}]`);
    await tab.evaluate(type, ["3"]);
    const [before, kept] = await tab.evaluate(`[window.elements.length, [...${all}].filter((e) => window.elements.includes(e)).length]`);
    that(before === kept && kept > 30, `${before} elements before, ${kept} of them afterwards`);
  });
}
