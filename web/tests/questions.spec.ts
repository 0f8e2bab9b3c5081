// Plain questions: keys, sliders, conditions, and what is decided about them.
import type { Page } from "@playwright/test";
import { BENCH } from "../playwright.config";
import { ask, joined } from "./crowd";
import { expect, faultsOf, type Place, test } from "./place";

const submitted = async (page: Page) =>
  JSON.parse((await page.locator("[data-submitted]").getAttribute("data-submitted")) ?? "null");

const radio = (page: Page, name: string) => page.getByRole("radio", { name, exact: true });

test("arrows: up and down move between questions, left and right choose", async ({ sound: page }) => {
  await page.goto(`${BENCH}/#branching`);
  // Key hints are no part of a name.
  await expect(radio(page, "yes")).toBeFocused();
  await expect(radio(page, "yes")).toHaveAttribute("aria-keyshortcuts", "1");
  await page.keyboard.press("ArrowDown");
  await expect(radio(page, "1")).toBeFocused();
  await expect(page.getByRole("radio", { checked: true })).toHaveCount(0);
  await page.keyboard.press("ArrowRight");
  await expect(radio(page, "2")).toBeChecked();
  await page.keyboard.press("ArrowDown");
  await expect(page.getByRole("slider")).toBeFocused();
  await page.keyboard.press("ArrowUp");
  await expect(radio(page, "2")).toBeFocused();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("2");
  await expect(radio(page, "no")).toBeChecked();
  await page.keyboard.press("ArrowDown");
  await expect(page.getByRole("checkbox", { name: "invented", exact: true })).toBeFocused();
  await page.keyboard.press("ArrowRight");
  await expect(page.getByRole("checkbox", { name: "outdated", exact: true })).toBeFocused();
  await page.keyboard.press("Space");
  await expect(page.getByRole("checkbox", { name: "outdated", exact: true })).toBeChecked();
  expect(await faultsOf(page)).toEqual([]);
});

test("a long scale is one handle, which answers nothing until it is used", async ({ sound: page }) => {
  await page.goto(`${BENCH}/#branching`);
  const handle = page.getByRole("slider", { name: "How much effort was it to check?" });
  await expect(handle).toHaveCount(1);
  await expect(page.getByText("How much effort was it to check?")).toHaveCount(1);
  await expect(handle).toHaveValue("20");
  await expect(handle).toHaveAttribute("aria-valuetext", "not answered, handle at 20");
  await radio(page, "yes").click();
  await radio(page, "4").click();
  await page.getByRole("button", { name: "Submit" }).click();
  await expect(page.getByText("not answered", { exact: true })).toBeVisible();
  await expect(handle).toBeFocused();
  await page.keyboard.press("Space");
  await expect(handle).toHaveAttribute("aria-valuetext", "20");
  await page.keyboard.press("ArrowRight");
  await expect(handle).toHaveValue("25");
  expect(await faultsOf(page)).toEqual([]);
  await page.keyboard.press("Control+Enter");
  expect((await submitted(page)).effort).toEqual({ kind: "slider", value: 25 });
});

test("questions appear after the answers that they depend on", async ({ sound: page }) => {
  await page.goto(`${BENCH}/#branching`);
  const question = (name: string) => page.getByRole("group", { name });
  await expect(question("What is wrong?")).toHaveCount(0);
  await radio(page, "partly").click();
  await expect(question("What is wrong?")).toBeVisible();
  await expect(question("What was invented?")).toHaveCount(0);
  await page.getByRole("checkbox", { name: "invented" }).check();
  await expect(question("What was invented?")).toBeVisible();
  await expect(page.getByText(/3 answers missing/)).toBeVisible();
  // What led there is changed: both are gone, and neither is required.
  await radio(page, "yes").click();
  await expect(question("What is wrong?")).toHaveCount(0);
  await expect(question("What was invented?")).toHaveCount(0);
  await expect(page.getByText(/2 answers missing/)).toBeVisible();
  // What was entered comes back with the answer.
  await radio(page, "no").click();
  await expect(page.getByRole("checkbox", { name: "invented" })).toBeChecked();
});

const CONFIG = `
annotation_task_name: Plain questions
data_files: [data.jsonl]
item_properties: {id_key: id, text_key: text}
annotation_schemes:
  - {annotation_type: radio, name: grounded, description: Is it in the documents?, labels: [yes, no, partly]}
  - {annotation_type: multiselect, name: faults, description: What is wrong?, labels: [invented, outdated]}
  - {annotation_type: likert, name: clear, description: How clear is it?, size: 5}
  - {annotation_type: slider, name: effort, description: How much effort was it?, min_value: 0, max_value: 100}
`;

async function plainTask(place: Place): Promise<string> {
  const files = { "task.yaml": CONFIG, "data.jsonl": '{"id": "a", "text": "It opens at nine."}\n' };
  const { id } = await ask<{ id: string }>(place, "POST", "/tasks", { config: "task.yaml", files });
  return id;
}

test("every plain question can be decided, with its own answers", async ({ sound: page, place: start }) => {
  const place = await start({});
  const task = await plainTask(place);
  const answers = [
    { grounded: ["yes"], faults: [], clear: 2, effort: 10 },
    { grounded: ["no"], faults: ["invented"], clear: 5, effort: 90 },
  ];
  for (const [nth, it] of answers.entries()) {
    const cookie = await joined(place, task, `person ${nth}`);
    const work = await ask<{ assignment: string; revision: number }>(
      place,
      "POST",
      `/tasks/${task}/next`,
      {},
      cookie,
    );
    const draft = {
      grounded: { kind: "choice", labels: it.grounded },
      // Nothing ticked: the page sends nothing, and the server stores an empty answer.
      ...(it.faults.length > 0 ? { faults: { kind: "choice", labels: it.faults } } : {}),
      clear: { kind: "likert", value: it.clear },
      effort: { kind: "slider", value: it.effort },
    };
    const body = { draft, revision: work.revision };
    await ask(place, "POST", `/assignments/${work.assignment}/submit`, body, cookie);
  }
  await page.goto(`${place.url}/p/default/annotate/${task}/disputes`);
  await expect(page.getByText("4 disputes to decide")).toBeVisible();
  const queue = page.getByRole("list", { name: "Disputes" });
  const decided = page.getByRole("button", { name: "Decide", exact: true });
  const open = async (name: string) => {
    await queue.getByRole("button", { name }).click();
    await expect(page.getByRole("heading", { name, level: 2 })).toBeVisible();
    await expect(decided).toBeDisabled();
  };
  await open("Is it in the documents?");
  await expect(page.getByRole("radio", { name: "partly" })).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);
  await page.keyboard.press("3");
  await decided.click();
  await expect(page.getByText("Decided: partly.")).toBeVisible();
  await open("What is wrong?");
  await expect(page.getByText("(none)").first()).toBeVisible();
  await page.keyboard.press("1");
  await expect(page.getByRole("checkbox", { name: "invented" })).toBeChecked();
  await page.keyboard.press("2");
  expect(await faultsOf(page)).toEqual([]);
  await decided.click();
  await expect(page.getByText("Decided: invented, outdated.")).toBeVisible();
  await open("How clear is it?");
  await page.keyboard.press("3");
  await decided.click();
  await expect(page.getByText("Decided: 3.")).toBeVisible();
  await open("How much effort was it?");
  const handle = page.getByRole("slider");
  await handle.focus();
  await page.keyboard.press("ArrowRight");
  await decided.click();
  await expect(page.getByText("All disputes are decided")).toBeVisible();
  const line = await fetch(`${place.url}/api/v1/tasks/${task}/export`);
  const [first] = (await line.text()).trim().split("\n");
  expect(JSON.parse(first ?? "{}").decided).toEqual({
    grounded: "partly",
    faults: ["invented", "outdated"],
    clear: 3,
    effort: 51,
  });
});

test("nothing ticked is stored as an empty answer", async ({ sound: page, place: start }) => {
  const place = await start({});
  const task = await plainTask(place);
  await page.goto(`${place.url}/p/default/annotate/${task}`);
  await page.getByLabel("Your name").fill("Ana");
  await page.getByRole("button", { name: "Start" }).click();
  await radio(page, "yes").click();
  await page.getByRole("button", { name: "Submit" }).click();
  await expect(page.getByRole("heading", { name: "All items are done" })).toBeVisible();
  const line = await fetch(`${place.url}/api/v1/tasks/${task}/export`);
  const { grounded, faults } = JSON.parse((await line.text()).trim());
  expect({ grounded, faults }).toEqual({ grounded: "yes", faults: [] });
});
