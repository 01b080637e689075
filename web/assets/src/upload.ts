// The form that sends a file: first checked, then stored, by the same address that every other client uses.

import { element } from "./words.ts";

interface Message {
  file?: string;
  line?: number;
  message?: string;
}

interface Receipt {
  format: string;
  runs: { id: number; url: string }[] | null;
  configs?: { system: string; name: string; layer: string }[] | null;
  results: number;
  already_there: number;
  merged: number;
  values: number;
  refused: Message[] | null;
  warnings: Message[] | null;
  upload?: { id: number; duplicate: boolean };
}

interface Problem {
  title?: string;
  detail?: string;
  errors?: { location?: string; message?: string }[];
}

const listMax = 50;

export function startUpload(form: HTMLFormElement): void {
  const answer = form.querySelector<HTMLElement>("[data-answer]");
  const store = form.querySelector<HTMLButtonElement>("[data-store]");
  const check = form.querySelector<HTMLButtonElement>("[data-check]");
  const drop = form.querySelector<HTMLElement>(".drop");
  const input = form.querySelector<HTMLInputElement>("input[type=file]");
  const name = form.querySelector<HTMLElement>("[data-file-name]");
  if (!answer || !store || !check || !drop || !input || !name) return;

  // What was checked is what may be stored: any change asks for a new check.
  const changed = () => {
    store.hidden = true;
    answer.replaceChildren();
  };
  form.addEventListener("input", changed);
  input.addEventListener("change", () => {
    name.textContent = input.files?.[0]?.name ?? "Drop a file here or choose one";
    changed();
  });
  for (const kind of ["dragover", "dragleave", "drop"]) drop.addEventListener(kind, () => drop.classList.toggle("over", kind === "dragover"));

  const send = async (dryRun: boolean) => {
    const file = input.files?.[0];
    if (!file) return;
    check.disabled = store.disabled = true;
    answer.replaceChildren(element("p", dryRun ? "Checking …" : "Storing …", "mut"));
    try {
      const query = new URLSearchParams({ filename: file.name });
      const data = new FormData(form);
      for (const [key, value] of data) if (typeof value === "string" && value.trim() !== "" && key !== "token") query.set(key, value.trim());
      if (dryRun) query.set("dry_run", "true");
      const response = await fetch(`/api/v1/uploads?${query}`, { method: "POST", headers: { Authorization: `Bearer ${String(data.get("token") ?? "").trim()}` }, body: file });
      const body = (await response.json()) as Receipt & Problem;
      answer.replaceChildren(...(response.ok ? receipt(body, dryRun) : problem(body, response.status)));
      store.hidden = !(dryRun && response.ok);
    } catch (e) {
      answer.replaceChildren(element("p", `No answer from the server: ${e instanceof Error ? e.message : String(e)}`));
    } finally {
      check.disabled = store.disabled = false;
    }
  };
  form.addEventListener("submit", (e) => {
    e.preventDefault();
    void send(true);
  });
  store.addEventListener("click", () => void send(false));
}

function receipt(r: Receipt, dryRun: boolean): HTMLElement[] {
  const out: HTMLElement[] = [];
  const verb = dryRun ? "Would store" : "Stored";
  const configs = r.configs ?? [];
  const optionsOnly = configs.length > 0 && r.results === 0 && r.already_there === 0;
  const said = r.upload?.duplicate && !dryRun
    ? "These bytes were stored before; nothing was added."
    : optionsOnly
      ? `${r.format}: ${verb.toLowerCase()} the options of ${configs.length === 1 ? "a config" : `${configs.length} configs`}.`
      : `${r.format}: ${verb.toLowerCase()} ${r.results} results with ${r.values} figures; ${r.already_there} were there already.`;
  out.push(element("p", said));
  if (configs.length > 0) {
    const list = element("ul");
    for (const c of configs.slice(0, listMax)) {
      const li = element("li", c.layer === "effective" ? "what a server said of itself: " : "what a file asks for: ");
      const link = element("a", `${c.system} ${c.name}`);
      link.href = `/configs/${encodeURIComponent(c.system)}/${encodeURIComponent(c.name)}`;
      li.append(dryRun ? `${c.system} ${c.name}` : link);
      list.append(li);
    }
    if (configs.length > listMax) list.append(element("li", `… and ${configs.length - listMax} more`));
    out.push(list);
  }
  if (!dryRun && r.runs && r.runs.length > 0) {
    const list = element("ul");
    for (const run of r.runs.slice(0, listMax)) {
      const link = element("a", `run ${run.id}`);
      link.href = `/runs/${run.id}`;
      const li = element("li");
      li.append(link);
      list.append(li);
    }
    out.push(list);
  }
  out.push(...messages("Refused", r.refused), ...messages("Warnings", r.warnings));
  return out;
}

function problem(p: Problem, status: number): HTMLElement[] {
  const out: HTMLElement[] = [element("p", p.detail || p.title || `The server answered ${status}.`, "dn")];
  const places = (p.errors ?? []).map((e) => [e.location, e.message].filter((s) => s).join(": "));
  if (places.length > 0) out.push(textList(places));
  return out;
}

function messages(title: string, list: Message[] | null): HTMLElement[] {
  if (!list || list.length === 0) return [];
  const places = list.map((m) => `${m.file ?? ""}${m.line ? ":" + m.line : ""}: ${m.message ?? ""}`);
  return [element("p", `${title}: ${list.length}`, "mut"), textList(places)];
}

function textList(lines: string[]): HTMLElement {
  const list = element("ul", "", "warn");
  for (const line of lines.slice(0, listMax)) list.append(element("li", line));
  if (lines.length > listMax) list.append(element("li", `… and ${lines.length - listMax} more`));
  return list;
}
