// Before anything is drawn, so that a page does not flash in the other theme.
try {
  const theme = localStorage.getItem("jurist.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // No storage: the machine's own preference holds.
}
