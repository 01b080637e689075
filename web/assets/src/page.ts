// The one script of all pages. Without it pages stay readable: it draws charts, divides by another base, and adds keys.

import { Comparison } from "./comparison.ts";
import { startSeconds } from "./seconds.ts";
import { read, type View } from "./spec.ts";
import { restoreTheme, switchTheme } from "./theme.ts";
import { drawTimes } from "./time.ts";
import { startUpload } from "./upload.ts";
import { element } from "./words.ts";

document.documentElement.classList.add("scripted");
restoreTheme();

const view = read<View>("view");
const comparison = view ? new Comparison(view) : null;
const redrawTimes = drawTimes();
const seconds = startSeconds(say);
const redraw = (all = false) => {
  comparison?.redraw(all);
  redrawTimes(all);
  seconds?.redraw(all);
};

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraw());

// Paper is light, and shows what was never scrolled to.
let screenTheme: string | undefined;
addEventListener("beforeprint", () => {
  screenTheme = document.documentElement.dataset["theme"];
  document.documentElement.dataset["theme"] = "light";
  redraw(true);
});
addEventListener("afterprint", () => {
  if (screenTheme === undefined) delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = screenTheme;
  redraw();
});
document.querySelectorAll("[data-theme-switch]").forEach((b) =>
  b.addEventListener("click", () => {
    switchTheme();
    redraw();
  }),
);
document.querySelectorAll<HTMLFormElement>("form[data-upload]").forEach(startUpload);

// Menus: one open at a time, closed by a click elsewhere.
document.addEventListener("click", (e) => {
  const inside = (e.target as Element | null)?.closest("details.menu");
  document.querySelectorAll("details.menu[open]").forEach((m) => {
    if (m !== inside) m.removeAttribute("open");
  });
});

/** A short message that goes away by itself. */
function say(text: string): void {
  document.querySelectorAll(".said").forEach((e) => e.remove());
  const said = element("div", text, "said");
  said.setAttribute("role", "status");
  document.body.append(said);
  setTimeout(() => said.remove(), 2500);
}

async function copy(text: string, done: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(done);
  } catch {
    // Plain HTTP on another host has no clipboard: the text is shown to be copied by hand.
    prompt("Copy this:", text);
  }
}

const copyAddress = () => copy(view && !view.frozen && comparison ? comparison.address() : location.href, "Link copied");

/** Makes a short link to what is shown and copies it; where that fails the full address serves. */
async function copyShort(form: HTMLFormElement, frozen: boolean): Promise<void> {
  const data = new URLSearchParams();
  const to = comparison ? new URL(comparison.address()) : null;
  data.set("url", to ? to.pathname + to.search : (form.querySelector<HTMLInputElement>("[name=url]")?.value ?? ""));
  if (frozen) data.set("frozen", "1");
  form.closest("details")?.removeAttribute("open");
  try {
    const r = await fetch(form.action, { method: "POST", body: data, headers: { Accept: "application/json" } });
    if (!r.ok) throw new Error(r.status === 401 ? "sign in again" : `status ${r.status}`);
    const made = (await r.json()) as { address: string };
    await copy(made.address, `${frozen ? "Frozen" : "Short"} link copied: ${made.address.replace(/^https?:\/\//, "")}`);
  } catch (error) {
    say(`No link: ${error instanceof Error ? error.message : String(error)}`);
  }
}

document.addEventListener("submit", (e) => {
  const form = e.target as HTMLFormElement;
  if (!form.matches("form[data-link]")) return;
  e.preventDefault();
  void copyShort(form, (e.submitter as HTMLButtonElement | null)?.value === "1");
});

// Shift-click on a version makes it the base; without Shift the link is followed.
document.addEventListener("click", (e) => {
  const version = (e.target as Element | null)?.closest<HTMLAnchorElement>("a[data-shift-base]");
  if (!version || !e.shiftKey || view?.frozen) return;
  e.preventDefault();
  location.assign(version.dataset["shiftBase"] ?? "");
});

document.addEventListener("click", (e) => {
  const target = e.target as Element | null;
  if (target?.closest("[data-copy], [data-copy-view]")) {
    e.preventDefault();
    void copyAddress();
  } else if (target?.closest("[data-markdown]")) {
    const from = target.closest<HTMLElement>("[data-markdown]")?.dataset["markdown"] ?? "";
    void fetch(view?.frozen ? `${location.pathname}?format=md` : from || "/charts.md" + location.search)
      .then((r) => (r.ok ? r.text() : Promise.reject(new Error(`status ${r.status}`))))
      .then((text) => copy(text, "Tables copied as Markdown"))
      .catch((error: unknown) => say(`Not copied: ${error instanceof Error ? error.message : String(error)}`));
  } else if (target?.closest("[data-copy-text]")) {
    const from = target.closest<HTMLElement>("[data-copy-text]")?.dataset["copyText"] ?? "";
    void copy(document.getElementById(from)?.textContent ?? "", "Copied");
  } else if (target?.closest("[data-keys]")) showKeys();
});

const keys: readonly (readonly [string, string])[] = [
  ["/", "find a version, step, server or note"],
  ["← →", "move along the versions, in a focused chart"],
  ["Home End", "first and last version"],
  ["+ - 0", "in a chart of seconds: look closer, less close, at all of them"],
  ["Enter", "lock the version, or open the step of a small chart"],
  ["b", "make the version the base; without one, open the list of bases"],
  ["r", "open the run of the locked version"],
  ["o", "open the change at the locked version"],
  ["n", "write a note on the version, or on the view"],
  ["c", "compare the locked version, or the newest, with the base: every step, and what differs"],
  ["y", "copy a link to this view; signed in, a short one"],
  ["e", "export"],
  ["j k", "next and previous step, change or version"],
  ["Esc", "let go"],
  ["?", "this list"],
];

function showKeys(): void {
  const dialog = element("dialog", "", "keys");
  const dl = element("dl");
  for (const [key, what] of keys) {
    const dt = element("dt");
    key.split(" ").forEach((k) => dt.append(element("kbd", k), " "));
    dl.append(dt, element("dd", what));
  }
  dialog.append(element("h2", "Keyboard"), dl);
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", () => dialog.close());
  document.body.append(dialog);
  dialog.showModal();
}

document.addEventListener("keydown", (e) => {
  const at = e.target as HTMLElement;
  if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented) return;
  if (e.key === "Escape") {
    document.querySelectorAll("details.menu[open]").forEach((m) => m.removeAttribute("open"));
    comparison?.key("Escape");
    return;
  }
  if (at.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName)) return;
  switch (e.key) {
    case "/":
      document.querySelector<HTMLInputElement>(".find input")?.focus();
      break;
    case "?":
      showKeys();
      break;
    case "y": {
      const form = document.querySelector<HTMLFormElement>("form[data-link]");
      if (form) void copyShort(form, false);
      else void copyAddress();
      break;
    }
    case "n":
    case "c":
      if (!comparison?.key(e.key)) {
        const add = document.querySelector<HTMLAnchorElement>(`a[data-key=${e.key}]`);
        if (!add) return;
        add.click();
      }
      break;
    case "e":
      document.querySelector<HTMLElement>(".bar .end .menu > summary")?.click();
      break;
    case "j":
    case "k":
      document.querySelector<HTMLAnchorElement>(`.pn a[title="${e.key}"]`)?.click();
      break;
    default:
      if (!comparison?.key(e.key)) return;
  }
  e.preventDefault();
});
