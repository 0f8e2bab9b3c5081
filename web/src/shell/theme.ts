// Light, dark, or the preference of the system. `public/theme.js` applies it before the first paint.
export type Theme = "auto" | "light" | "dark";

export const THEMES: { name: Theme; label: string }[] = [
  { name: "auto", label: "System theme" },
  { name: "light", label: "Light theme" },
  { name: "dark", label: "Dark theme" },
];

const KEY = "jurist.theme";

export function theme(): Theme {
  const kept = localStorage.getItem(KEY);
  return kept === "light" || kept === "dark" ? kept : "auto";
}

export function setTheme(theme: Theme) {
  localStorage.setItem(KEY, theme);
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
