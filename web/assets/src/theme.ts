// Colours of the current theme. Options name colours by CSS custom property ("--line"); canvases need values.

export type Tokens = (name: string) => string;

export function tokens(): Tokens {
  const style = getComputedStyle(document.documentElement);
  const known = new Map<string, string>();
  return (name) => {
    let value = known.get(name);
    if (value === undefined) {
      value = style.getPropertyValue(name).trim();
      known.set(name, value);
    }
    return value;
  };
}

const colourKeys = new Set(["color", "borderColor", "backgroundColor"]);

/** A deep copy with the names of custom properties resolved, under keys that hold colours only: a line may be named "--ink". */
export function resolve<T>(value: T, token: Tokens, key = ""): T {
  if (typeof value === "string") {
    return (colourKeys.has(key) && value.startsWith("--") ? token(value) : value) as T;
  }
  if (Array.isArray(value)) return value.map((v) => resolve(v, token, key)) as T;
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, resolve(v, token, k)])) as T;
  }
  return value;
}

const storageKey = "relqps-theme";

/** Applies the theme that was chosen earlier, if any. */
export function restoreTheme(): void {
  const chosen = stored();
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset["theme"] = chosen;
}

/** Switches between light and dark and remembers it. */
export function switchTheme(): void {
  const root = document.documentElement;
  const now = root.dataset["theme"];
  const dark = now ? now === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset["theme"] = dark ? "light" : "dark";
  try {
    localStorage.setItem(storageKey, root.dataset["theme"]);
  } catch {
    // Storage may be forbidden; the choice then lasts as long as the page.
  }
}

function stored(): string | null {
  try {
    return localStorage.getItem(storageKey);
  } catch {
    return null;
  }
}
